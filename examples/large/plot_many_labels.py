"""
Thirty thousand labels
======================

A library has thirty thousand subject headings. For each title you want the three headings that
fit best. A table of titles by headings would have ninety million cells, nearly all
of them zero. The label matrix stays sparse, and the weights are kept as two thin factors.
"""

# %%
# We draw titles as a language model would hand them over, as vectors of 200 numbers: the mean
# of the vectors of their three headings, and noise. Headings of the same field have similar
# vectors, and some are used often, most of them seldom.

import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import eigenlabel as el

rng = np.random.default_rng(0)
n, n_new, d, m, fields = 3000, 400, 200, 30_000, 60
often = 1 / (np.arange(500) + 5)
field = rng.integers(0, fields, n + n_new)
headings = field[:, None] * 500 + rng.choice(500, size=(n + n_new, 3), p=often / often.sum())
rows = np.repeat(np.arange(n + n_new), 3)
Y = sp.csr_array((np.ones(rows.size, int), (rows, headings.ravel())), shape=(n + n_new, m))
Y = (Y > 0).astype(int)

vectors = rng.standard_normal((m, d)) + 2 * np.repeat(rng.standard_normal((fields, d)), 500, axis=0)
X = vectors[headings].mean(axis=1) + 0.4 * rng.standard_normal((n + n_new, d))
print(f"X {X.shape}, Y {Y.shape} with {Y.nnz:,} ones")
print(f"a full array of the labels would need {8 * n * m / 2**30:.1f} GiB")

# %%
# ``alpha=inf`` keeps the weights as the product of a (d, r) and an (r, m) matrix. The number of
# components is the choice to make: more of them describe rarer headings.

components = [10, 50, 100, 200]
precision, seconds = [], []
for r in components:
    start = time.process_time()
    model = el.SharedSubspaceClassifier(alpha=np.inf, beta=1e-3, n_components=r, tol=1e-2)
    model.fit(X[:n], Y[:n])
    seconds.append(time.process_time() - start)
    best = model.predict_top(X[n:], 3)
    precision.append(Y[n:].multiply(best).sum() / best.sum())
    print(f"{r:3d} components: {seconds[-1]:4.1f} s, precision at 3 {precision[-1]:.3f}")

# %%
# How good is that? A heading that is chosen by chance is right once in ten thousand times. The
# three most frequent headings are a better guess, and still far away. Most headings are never used
# in the training titles, so no method can find those.

popular = np.argsort(-np.asarray(Y[:n].sum(axis=0)).ravel())[:3]
baseline = Y[n:][:, popular].sum() / (3 * n_new)
figure, ax = plt.subplots(figsize=(8, 4.5))
ax.plot(components, precision, marker="o")
for r, value, time_taken in zip(components, precision, seconds, strict=True):
    ax.annotate(f"{time_taken:.1f} s", (r, value), xytext=(6, -14), textcoords="offset points")
ax.axhline(baseline, color="grey", ls=":", label="the three most frequent headings")
ax.set(xlabel="components", ylabel="precision of the three best labels", ylim=(0, None))
ax.legend(frameon=False)
ax.set_title(f"{m:,} labels, {n:,} samples; processor time of a fit beside each point")
plt.show()
