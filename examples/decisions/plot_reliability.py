"""
Is a probability of 80% right in 80% of the cases?
==================================================

You want to show a number beside each suggested tag, and act on it: assign the tag above 90%,
ask a person between 30% and 90%. This works if the numbers are honest. A reliability diagram
shows whether they are.
"""

# %%
# The model is tuned on its held-out scores. The same scores are turned into probabilities: one
# S-shaped curve for each label, where labels with few positives borrow from the others. This
# costs no further fit.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.feature_extraction.text import TfidfTransformer

import eigenlabel as el
from eigenlabel.inspection import ReliabilityDisplay

data = el.datasets.load_debtags(min_positives=300)
train, test = data.splits["by source"]
train, test = train[::20], test[::2]
weigh = TfidfTransformer(sublinear_tf=True).fit(data.X[train])
X, Y = weigh.transform(data.X[train]), data.Y[train].toarray()
X_new, Y_new = weigh.transform(data.X[test]), data.Y[test].toarray()
model = el.SharedSubspaceClassifierCV().fit(X, Y)

# %%
# Two homemade probabilities for comparison: scores between -1 and 1 moved to the range from 0
# to 1, and the logistic function of the scores.

scores = model.decision_function(X_new)
candidates = {
    "calibrated": model.predict_proba(X_new),
    "(score + 1) / 2": np.clip((scores + 1) / 2, 0, 1),
    "logistic of score": expit(scores),
}
for name, P in candidates.items():
    error, loss = el.metrics.calibration_error(Y_new, P), el.metrics.log_loss(Y_new, P)
    print(f"{name:18s} calibration error {error:.3f}   log-loss {loss:.3f}")

# %%
# On the diagonal, a stated probability is what happens. The band is the uncertainty of the
# observed share, and the histogram below shows how many suggestions have each probability.

figure, axes = plt.subplots(1, 2, figsize=(11, 5.5))
for ax, name in zip(axes, ("calibrated", "logistic of score"), strict=True):
    display = ReliabilityDisplay.from_predictions(Y_new, candidates[name], ax=ax)
    display.ax_.set_title(name)
plt.show()

# %%
# What does the 90% rule cost? For each cut we count how many tags would be assigned without a
# person, and how many of them are right. Honest probabilities make the two curves readable: at
# a cut of 0.9 more than 90% are right.

P = candidates["calibrated"]
cuts = np.linspace(0.3, 0.98, 35)
right = [Y_new[cut < P].mean() for cut in cuts]
covered = [Y_new[cut < P].sum() / Y_new.sum() for cut in cuts]
figure, ax = plt.subplots(figsize=(7, 4))
ax.plot(cuts, right, label="share of assigned tags that are right")
ax.plot(cuts, covered, label="share of true tags that are assigned")
ax.plot(cuts, cuts, color="grey", lw=1, ls=":", label="the cut itself")
ax.set(xlabel="assign a tag above this probability", ylim=(0, 1))
ax.legend(frameon=False)
plt.show()
