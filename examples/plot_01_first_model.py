"""
The first model
===============

x
"""

import eigenlabel as el

data = el.datasets.make_shared_subspace(300, n_labels=8, random_state=0)
model = el.SharedSubspaceClassifierCV().fit(data.X, data.Y)
