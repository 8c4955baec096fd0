"""Words in texts: where the features of a text stand in it, and what they contribute there."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

STRONGEST = 0.55  # opacity of the mark of the word that contributes most


class Span(NamedTuple):
    """A part of a text and what it contributes.

    All parameters are attributes too.

    Parameters
    ----------
    start : int
        The position of the first character.
    stop : int
        The position after the last character.
    contribution : float
        The sum of what the features at this place contribute.

    Examples
    --------
    >>> from eigenlabel.inspection import Span
    >>> Span(0, 5, 0.25).stop
    5
    """

    start: int
    stop: int
    contribution: float


class Token(NamedTuple):
    """A word of a text: its place, and its spelling among the features."""

    start: int
    stop: int
    word: str


@dataclass(frozen=True)
class Tokeniser:
    """How the features of a text are found in it.

    Attributes
    ----------
    pattern : str
        The regular expression of a word, as in scikit-learn's vectorizers.
    spell : callable
        Returns the spelling of a word among the features, such as ``str.lower``.
    lengths : range
        The numbers of words in a feature: 1 for words, 2 for pairs of words.
    stop_words : frozenset of str
        The words that are left out.
    """

    pattern: str
    spell: Callable[[str], str] = str.lower
    lengths: range = range(1, 2)
    stop_words: frozenset[str] = frozenset()

    def tokens(self, text: str) -> list[Token]:
        """Return the words of a text without stop words."""
        found = []
        expression = re.compile(self.pattern)
        group = 1 if expression.groups else 0
        for match in expression.finditer(text):
            word = self.spell(match.group(group))
            if word not in self.stop_words:
                found.append(Token(*match.span(group), word))
        return found

    def occurrences(self, text: str) -> dict[str, list[list[Token]]]:
        """Return the places of each feature of a text, each as the list of its words."""
        tokens, found = self.tokens(text), dict[str, list[list[Token]]]()
        for length in self.lengths:
            for start in range(len(tokens) - length + 1):
                place = tokens[start : start + length]
                found.setdefault(" ".join(token.word for token in place), []).append(place)
        return found

    def spans(self, text: str, contributions: Mapping[str, float]) -> list[Span]:
        """Return the words that contribute, in the order of the text.

        A feature contributes equally at each of its places, and equally by each of its words, so
        that the spans add up to the contributions of all features that occur in the text.
        """
        totals: dict[tuple[int, int], float] = {}
        for feature, places in self.occurrences(text).items():
            if feature not in contributions:
                continue
            for place in places:
                share = contributions[feature] / (len(places) * len(place))
                for token in place:
                    at = token.start, token.stop
                    totals[at] = totals.get(at, 0.0) + share
        return [Span(*at, totals[at]) for at in sorted(totals)]


def tokeniser_of(vectorizer: Any) -> Tokeniser | None:
    """Return the tokeniser of a scikit-learn vectorizer of words; None of any other vectorizer."""
    plain = getattr(vectorizer, "analyzer", None) == "word" and vectorizer.tokenizer is None
    if not plain or vectorizer.token_pattern is None:
        return None
    shortest, longest = vectorizer.ngram_range
    return Tokeniser(
        vectorizer.token_pattern,
        vectorizer.build_preprocessor(),
        range(shortest, longest + 1),
        frozenset(vectorizer.get_stop_words() or ()),
    )


@dataclass(frozen=True)
class TextColumn:
    """The texts of samples whose words are features.

    Attributes
    ----------
    name : str
        The name of the column; empty if the samples are texts.
    texts : sequence of str
        The text of each sample.
    tokeniser : Tokeniser
        How features are found in the texts.
    prefix : str
        What the names of the features start with.
    words : mapping of str to str, or None
        The word of each feature, by the name of the feature. None if it is the name without the
        prefix.
    """

    name: str
    texts: Sequence[str]
    tokeniser: Tokeniser
    prefix: str = ""
    words: Mapping[str, str] | None = None

    def mark(self, sample: int, contributions: Mapping[str, float]) -> "MarkedText":
        """Return the text of a sample with the contributions of its words."""
        text, n = str(self.texts[sample]), len(self.prefix)
        if self.words is not None:
            own = {self.words[k]: v for k, v in contributions.items() if k in self.words}
        else:
            own = {k[n:]: v for k, v in contributions.items() if k.startswith(self.prefix)}
        return MarkedText(self.name, text, tuple(self.tokeniser.spans(text, own)))


@dataclass(frozen=True)
class MarkedText:
    """A text and the words in it that speak for and against a label.

    All parameters are attributes too.

    Parameters
    ----------
    name : str
        The name of the column of the text.
    text : str
        The text.
    spans : tuple of Span
        The words that contribute, in the order of the text.

    Examples
    --------
    >>> from eigenlabel.inspection import MarkedText, Span
    >>> marked = MarkedText("title", "Red <apple>", (Span(5, 10, 0.5),))
    >>> marked.pieces()
    [('Red <', None), ('apple', 0.5), ('>', None)]
    """

    name: str
    text: str
    spans: tuple[Span, ...]

    def pieces(self) -> list[tuple[str, float | None]]:
        """Return the text in pieces, with what each of them contributes.

        Returns
        -------
        pieces : list of (str, float or None)
            The pieces in order; None for the text between the words that contribute.
        """
        found: list[tuple[str, float | None]] = []
        ends = [Span(0, 0, 0.0), *self.spans]
        for before, span in pairwise(ends):
            found += [(self.text[before.stop : span.start], None)]
            found += [(self.text[span.start : span.stop], span.contribution)]
        found.append((self.text[ends[-1].stop :], None))
        return [piece for piece in found if piece[0]]

    def to_html(self) -> str:
        """Return the text as escaped HTML.

        Words that speak for the label are marked blue, words against it orange, the stronger the
        more they contribute.

        Returns
        -------
        html : str
            The HTML.
        """
        largest = max((abs(span.contribution) for span in self.spans), default=0.0) or 1.0
        parts = []
        for text, contribution in self.pieces():
            if not contribution:
                parts.append(escape(text))
                continue
            share = STRONGEST * abs(contribution) / largest
            colour = "0 114 178" if contribution > 0 else "213 94 0"
            parts.append(
                f'<mark style="color:inherit;background:rgb({colour} / {share:.3f})" '
                f'title="{contribution:+.3g}">{escape(text)}</mark>'
            )
        return "".join(parts)


def as_texts(X: Any) -> list[str] | None:
    """Return a column of texts as a list; None if it contains anything else."""
    if isinstance(X, str) or not hasattr(X, "__len__"):
        return None
    values = np.asarray(X, dtype=object)
    if values.ndim != 1 or not all(isinstance(value, str) for value in values):
        return None
    return [str(value) for value in values]
