"""
A table with mixed columns
==========================

A machine shop keeps a table of repairs: numbers (hours, temperature), categories (model, site),
dates, gaps, and a column with the faults that were found, several in one cell. You want to
predict the faults of machines that come in next week.
"""

# %%
# A frame as it comes out of a spreadsheet. The faults of a machine are in one cell, with bars
# between them.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import eigenlabel as el
from eigenlabel.preprocessing import make_preparation

rng = np.random.default_rng(0)
n = 900
table = pd.DataFrame(
    {
        "hours": rng.gamma(2.0, 800.0, n).round(),
        "temperature": rng.normal(70, 12, n).round(1),
        "model": rng.choice(["A1", "A2", "B7", "C3"], n),
        "site": rng.choice(["indoors", "outdoors", "at sea"], n, p=[0.5, 0.35, 0.15]),
        "bought": pd.to_datetime("2019-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), "D"),
    }
)
age = (pd.Timestamp("2025-01-01") - table.bought).dt.days / 365
likely = {
    "bearing": table.hours / 1500 + (table.model == "B7") - 2.2,
    "seal": (table.temperature - 75) / 8 + 0.8 * (table.site == "outdoors") - 0.6,
    "rust": 2.2 * (table.site == "at sea") + (age - 4) / 2 - 1.0,
    "wiring": (age - 3) / 1.5 + 1.2 * (table.model == "C3") - 1.0,
}
faults = {name: rng.logistic(size=n) < 1.5 * value for name, value in likely.items()}
table["faults"] = ["|".join(f for f in faults if faults[f][i]) for i in range(n)]
table.loc[rng.random(n) < 0.1, "temperature"] = np.nan  # the sensor was broken
print(table.head(4).to_string())

# %%
# ``from_frame`` finds out what kind each column is, and splits the cells of the label column.

data = el.datasets.from_frame(table, labels="faults", separator="|")
print(data)
print(dict(data.column_types))

# %%
# The preparation treats each kind of column in its own way: gaps are filled, numbers and dates
# get unit variance, and each category gets a column. It is fitted on the training part alone.

train, test = np.arange(600), np.arange(600, len(table))
prepare = make_preparation("auto", data.X[train], **data.layout).fit(data.X[train])
X, X_new = prepare.transform(data.X[train]), prepare.transform(data.X[test])
Y, Y_new = data.Y[train].toarray(), data.Y[test].toarray()
model = el.SharedSubspaceClassifierCV().fit(X, Y)
figures = el.metrics.evaluate(Y_new, model.decision_function(X_new), model.predict(X_new))
print(f"macro F1 {figures['f1_macro']:.3f}, macro AUC {figures['auc_macro']:.3f}")

# %%
# The weights can be read, because all columns have the same scale: blue speaks for a fault, red
# against it.

columns = ["hours", "temperature", "bought"]  # numbers and dates come first
for name in ("model", "site"):
    columns += [f"{name}: {value}" for value in data.categories[name]]
figure, ax = plt.subplots(figsize=(9, 4))
limit = np.abs(model.coef_).max()
image = ax.imshow(model.coef_, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
ax.set_xticks(range(len(columns)), columns, rotation=40, ha="right")
ax.set_yticks(range(len(data.label_names)), data.label_names)
ax.spines[:].set_visible(False)
figure.colorbar(image, ax=ax, label="weight")
ax.set_title("What each column says about each fault")
plt.show()

# %%
# The same from a file, without a line of Python: ``eigenlabel tune repairs.csv --labels faults
# --separator '|' -o model.skops --report page.html``.
