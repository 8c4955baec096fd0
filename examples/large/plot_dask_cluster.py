"""
A Dask cluster
==============

Your samples are spread over the machines of a cluster, and together they do not fit on any of
them. The model does not need them in one place: each machine adds up the products of its own
rows, and only these sums travel.
"""

# %%
# This example starts a small cluster on one machine, with two workers. On a real one you pass
# the address of its scheduler: ``el.distributed.connect("tcp://scheduler:8786")``.

import time

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

import eigenlabel as el

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
client = Client(cluster)

data = el.datasets.make_shared_subspace(
    20_000, n_features=100, n_labels=30, n_components=5, noise=1.0, random_state=0
)
X, Y = (da.from_array(table, chunks=(2_000, -1)) for table in (data.X, data.Y))
print(X.numblocks[0], "partitions of", X.chunks[0][0], "samples")

# %%
# The call is the same as on one machine, and so is the result.

model = el.distributed.fit(el.SharedSubspaceClassifier(n_components=5), X, Y)
here = el.SharedSubspaceClassifier(n_components=5).fit(data.X, data.Y)
print("largest difference of the weights:", f"{np.abs(model.coef_ - here.coef_).max():.1e}")

scores = el.distributed.decision_function(model, X)
print(type(scores).__name__, scores.shape, "computed block by block")

# %%
# What travels does not depend on the number of samples: one set of sums for each partition, of
# d times (d + m) numbers. The plot compares it with the samples themselves, for 100 features
# and 30 labels.

samples = np.logspace(3, 8, 50)
d, m = 100, 30
figure, ax = plt.subplots(figsize=(8, 4.5))
ax.loglog(samples, 8 * samples * (d + m) / 2**20)
for partitions in (10, 100, 400):
    size = 8 * partitions * d * (d + m) / 2**20
    ax.axhline(size, ls="--", lw=1, color="tab:green")
    text = f"sums of {partitions} partitions"
    ax.text(1e8, size * 1.15, text, color="tab:green", ha="right")
ax.annotate(
    "the samples themselves",
    (1e6, 8e6 * (d + m) / 2**20),
    xytext=(-8, 8),
    ha="right",
    textcoords="offset points",
    color="tab:blue",
)
ax.set(xlabel="samples", ylabel="MiB that travel")
ax.set_title("Sums are small, whatever the number of samples")
plt.show()

client.close()
cluster.close()
time.sleep(0.1)  # let the workers end before the next example starts
