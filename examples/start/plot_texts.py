"""
From texts to labels
====================

A help desk receives short messages. Each one belongs to one or more teams: *billing*,
*delivery*, *account*, *app*. You have some hundred messages that people have sorted, and want
to sort the rest by a program, starting from plain text.
"""

# %%
# The messages of this example are put together from phrases, so that it needs no download. Any
# list of strings can take their place.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import eigenlabel as el

TEAMS = ["billing", "delivery", "account", "app"]
PHRASES = {
    "billing": [
        "I was charged twice",
        "the invoice is wrong",
        "please refund the amount",
        "my card was declined",
        "the discount is missing",
        "the price changed after I paid",
    ],
    "delivery": [
        "the parcel never arrived",
        "tracking shows no progress",
        "the box was damaged",
        "courier left it with a neighbour",
        "wrong item in the parcel",
        "when will it be shipped",
    ],
    "account": [
        "I cannot log in",
        "the password reset mail does not come",
        "please change my address",
        "how do I delete my account",
        "someone else used my login",
        "my name is misspelt",
    ],
    "app": [
        "the app crashes at start",
        "the screen stays white",
        "the update broke notifications",
        "the button does nothing on my phone",
        "the app shows an old address",
        "it is very slow",
    ],
}
OPENERS = ["Hello", "Good morning", "Hi there", "Dear team", "To whom it may concern", "Urgent"]
rng = np.random.default_rng(0)


def draw_message() -> tuple[str, list[int]]:
    """Draw a message about one, two or three teams, with some words that belong to none."""
    teams = rng.choice(4, size=rng.choice([1, 2, 3], p=[0.5, 0.4, 0.1]), replace=False)
    parts = [rng.choice(PHRASES[TEAMS[team]]) for team in teams]
    words = " and ".join(parts).split()
    kept = [word for word in words if rng.random() > 0.25]  # people write briefly
    return f"{rng.choice(OPENERS)}, {' '.join(kept)}", [int(j in teams) for j in range(4)]


texts, Y = zip(*(draw_message() for _ in range(900)), strict=True)
texts, Y = np.array(texts), np.array(Y)
print(texts[0], "->", [team for team, y in zip(TEAMS, Y[0], strict=True) if y])

# %%
# A pipeline turns words and pairs of words into numbers and fits the model. It is an ordinary
# scikit-learn pipeline: it can be cross-validated, cloned and saved.

texts_train, texts_test, Y_train, Y_test = train_test_split(
    texts, Y, train_size=300, random_state=0
)
model = make_pipeline(
    TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), el.SharedSubspaceClassifierCV()
).fit(texts_train, Y_train)

figures = el.metrics.evaluate(
    Y_test, model.decision_function(texts_test), model.predict(texts_test)
)
for name in ("f1_macro", "f1_micro", "accuracy"):
    print(f"{name}: {figures[name]:.3f}")

# %%
# New messages get a probability for each team. The map shows them for eight messages: dark
# cells are certain, pale ones should be looked at by a person.

new = [
    "Hello, I was charged twice and the parcel never arrived",
    "the app shows an old address, please change my address",
    "Urgent, password reset mail does not come",
    "courier left the box damaged, please refund",
    "the app crashes when I pay the invoice",
    "when will my order be shipped",
    "white screen after the update and I cannot log in",
    "thank you for your help",
]
probabilities = model.predict_proba(new)

figure, ax = plt.subplots(figsize=(9, 4.6))
image = ax.imshow(probabilities, cmap="Greens", vmin=0, vmax=1, aspect="auto")
ax.set_xticks(range(4), TEAMS)
ax.set_yticks(range(len(new)), new)
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
for (i, j), p in np.ndenumerate(probabilities):
    ax.text(j, i, f"{p:.2f}", ha="center", va="center", color="white" if p > 0.6 else "black")
figure.colorbar(image, ax=ax, label="probability")
ax.set_title("Which teams should read these messages?")
plt.show()
