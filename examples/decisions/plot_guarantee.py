"""
Label sets with a guarantee
===========================

A colleague checks the tags that your program suggests. She strikes out wrong ones in a second,
but she never finds tags that are missing. She asks for lists that contain, on average, at least
90% of the true tags, and for lists as short as that allows.
"""

# %%
# ``RiskControl`` chooses one cut of the probabilities so that the expected recall of new
# samples is at least what you ask for (conformal risk control, Angelopoulos et al. 2022). It
# needs no assumption about the model, only that new samples come from the same source as the
# old ones. The guarantee is exact if the samples that set the cut were not used for the model,
# so we keep some apart.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

import eigenlabel as el
from eigenlabel.thresholds import RiskControl

data = el.datasets.load_debtags(min_positives=300)
rng = np.random.default_rng(0)
order = rng.permutation(len(data.sample_names))
train, rest = order[:1500], order[1500:]
weigh = TfidfTransformer(sublinear_tf=True).fit(data.X[train])
model = el.SharedSubspaceClassifierCV().fit(weigh.transform(data.X[train]), data.Y[train])

P = model.predict_proba(weigh.transform(data.X[rest]))
Y = data.Y[rest].toarray()

# %%
# 500 packages set the cut, all others are new. We ask for different recalls and look at what
# new packages get.


def recall(true: np.ndarray, sets: np.ndarray) -> float:
    """Return the mean share of true labels that are in the sets; 1 for samples without labels."""
    hits, positives = (true * sets).sum(axis=1), true.sum(axis=1)
    return float(np.where(positives > 0, hits / np.maximum(positives, 1), 1).mean())


asked = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
sizes = []
for level in asked:
    rule = RiskControl(recall=level)
    sets = rule.decide(P[500:], rule.fit(P[:500], Y[:500]))
    sizes.append(sets.sum(axis=1).mean())
    print(
        f"asked {level:.2f}   recall {recall(Y[500:], sets):.3f}   tags a package {sizes[-1]:.1f}"
    )

# %%
# Is it luck? We draw the 500 packages a hundred times anew. The promise is about the *average*
# recall: single draws scatter around it, and their mean is not below what was asked for.

draws = []
for _ in range(100):
    mixed = rng.permutation(len(rest))
    some, others = mixed[:500], mixed[500:]
    rule = RiskControl(recall=0.9)
    draws.append(recall(Y[others], rule.decide(P[others], rule.fit(P[some], Y[some]))))

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
left.plot(asked, sizes, marker="o")
left.set(xlabel="recall that was asked for", ylabel="suggested tags per package")
left.set_title("Completeness costs length")
right.hist(draws, bins=20, color="tab:blue", alpha=0.7)
right.axvline(0.9, color="black", ls="--", label="asked for: 0.900")
right.axvline(np.mean(draws), color="tab:orange", label=f"mean of 100 draws: {np.mean(draws):.3f}")
right.set(xlabel="recall of new packages", ylabel="draws")
right.legend(frameon=False)
right.set_title("The promise is kept on average")
plt.show()

# %%
# Without a set of samples of your own to keep apart, pass the rule to the model:
# ``SharedSubspaceClassifierCV(threshold=RiskControl(recall=0.9))`` uses held-out probabilities,
# and the statement holds approximately. On the command line it is ``eigenlabel tune DATA --risk
# recall=0.9 -o model.skops``.
