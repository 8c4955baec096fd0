"""
A biplot of categories
======================

A questionnaire has answers in words, not numbers: how people travel, where they live, what they
watch. Homogeneity analysis (also called multiple correspondence analysis) places people and
answers in one picture, so that people are near the answers that they gave. Nothing is predicted; it
is a way to look.
"""

# %%
# We draw a small survey with two hidden traits, age and place of living, which show in the
# answers.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import eigenlabel as el

rng = np.random.default_rng(0)
n = 400
age, city = rng.normal(size=n), rng.normal(size=n)


def answer(lean: np.ndarray, words: list[str], noise: float = 0.8) -> np.ndarray:
    """Turn a hidden trait into answers, the first words for low values."""
    cuts = np.quantile(lean, np.linspace(0, 1, len(words) + 1)[1:-1])
    return np.array(words)[np.searchsorted(cuts, lean + noise * rng.normal(size=n))]


survey = pd.DataFrame(
    {
        "news": answer(age, ["feed", "radio", "paper"]),
        "music": answer(age, ["stream", "disc", "concert hall"], noise=1.0),
        "travel": answer(-city, ["underground", "bicycle", "car"]),
        "home": answer(-city, ["flat", "house", "farm"], noise=1.0),
        "work": answer(age - 0.6 * city, ["study", "office", "workshop", "retired"]),
    }
)
print(survey.head(4))

# %%
# Each answer is placed at the mean of the people who gave it. Answers that are close together
# come from the same people. The first axis runs from students to pensioners, the second one
# from the town to the country: the two hidden traits are found again.

model = el.HomogeneityAnalysis(n_components=2).fit(survey)
print("share of agreement in each dimension:", np.round(model.eigenvalues_, 2))

figure, ax = plt.subplots(figsize=(9, 7))
model.biplot(ax=ax)
for text in ax.texts:  # names on the left of their triangles, so that none overlap
    if text.get_text() in {*survey["music"], *survey["home"], "office"}:
        text.set_horizontalalignment("right")
        text.xyann = (-6, -4)
ax.set(xlabel="first dimension", ylabel="second dimension")
ax.set_title("People (dots) and their answers (triangles)")
plt.show()

# %%
# A new person is placed by the answers, and the neighbours show what this person might like.

new = pd.DataFrame(
    [{"news": "paper", "music": "concert hall", "travel": "car", "home": "farm", "work": "retired"}]
)
print("position:", np.round(model.transform(new), 2))
