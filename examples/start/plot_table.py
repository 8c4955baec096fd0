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
from sklearn.pipeline import make_pipeline

import eigenlabel as el
from eigenlabel.preprocessing import TablePreparation

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
# The labels of a machine are a set of words, and are passed as they are. ``TablePreparation`` finds
# out what kind each column is: gaps are filled, numbers and dates get unit variance, and each
# category gets a column.

labels = [set(cell.split("|")) - {""} for cell in table["faults"]]
columns = table.drop(columns="faults")
model = make_pipeline(TablePreparation(), el.SharedSubspaceClassifierCV())
model.fit(columns[:600], labels[:600])
print(model[0].kinds_)

# %%
# Predictions are sets of words again, and the metrics accept them.

found = model.predict(columns[600:])
print(found[:4])
print(f"macro F1 of new machines: {el.metrics.f1_macro(labels[600:], found):.3f}")

# %%
# The weights can be read, because all columns have the same scale: blue speaks for a fault, red
# against it. The map shows the columns with the largest weights.

names, weights = model[0].get_feature_names_out(), model[-1].coef_
top = np.sort(np.argsort(-np.abs(weights).max(axis=0))[:12])
figure, ax = plt.subplots(figsize=(9, 4))
limit = np.abs(weights).max()
image = ax.imshow(weights[:, top], cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
ax.set_xticks(range(len(top)), names[top], rotation=40, ha="right")
ax.set_yticks(range(len(model.classes_)), model.classes_)
ax.spines[:].set_visible(False)
figure.colorbar(image, ax=ax, label="weight")
ax.set_title("What each column says about each fault")
plt.show()

# %%
# The same from a file, without a line of Python: ``eigenlabel tune repairs.csv --labels faults
# --separator '|' -o model.skops --report page.html``.
