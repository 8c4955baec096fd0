"""From scores to what ``predict`` returns: label sets, or classes if y was a vector."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats
from eigenlabel.thresholds.rule import Rule
from eigenlabel.thresholds.rules import Zero


def decide(
    codec: LabelCodec,
    scores: Floats,
    rule: Rule = Zero(),  # noqa: B008  a frozen dataclass
    thresholds: Floats | float = 0.0,
) -> Any:
    """Return what ``predict`` returns for scores (n, m).

    For a label matrix these are the label sets that the rule decides on, in the form that y had;
    by default, a sample has the labels whose scores are positive. For a vector y these are the
    classes with the highest scores, for which thresholds play no role.
    """
    if codec.multilabel:
        return codec.decode(rule.decide(scores, np.asarray(thresholds)))
    return codec.decide(scores)


def join_decisions(parts: Sequence[Any]) -> Any:
    """Return the decisions about pieces of rows as one array, sparse if they are sparse."""
    if len(parts) == 1:
        return parts[0]
    first: Any = parts[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    return type(first)(sp.vstack(parts, format="csr"))
