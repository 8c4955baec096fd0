"""Labels beside scores or predictions: frames and label sets are matched by names."""

from typing import Any

from eigenlabel.labels.label_sets import holds_label_sets, label_matrix


def labels_beside(labels: Any, other: Any, name: str, own: str = "Y") -> Any:
    """Return labels whose columns have the order of another frame.

    Label sets become a label matrix with the columns of the frame. Anything else is returned
    unchanged.

    Parameters
    ----------
    labels : label matrix, frame or label sets
        The labels.
    other : array-like or frame of shape (n_samples, n_labels)
        Their scores, probabilities or predictions.
    name : str
        What an error calls ``other``.
    own : str, default="Y"
        What an error calls the labels.

    Raises
    ------
    ValueError
        If a label set has a label that is not a column of the frame, or if two frames have other
        names of columns, or the same in another order.
    """
    columns = _words(other)
    if not columns:
        return labels
    if holds_label_sets(labels):
        return label_matrix(labels, columns)
    left = _words(labels)
    if left and left != columns and len(left) == len(columns):
        first = [a == b for a, b in zip(left, columns, strict=True)].index(False)
        raise ValueError(
            f"Column {first} is {left[first]!r} in {own} and {columns[first]!r} in {name}, but "
            f"columns are compared by position. Pass {name}[{own}.columns], or arrays."
        )
    return labels


def _words(frame: Any) -> list[str]:
    """Return the names of the columns of a frame, or none if they are not all words."""
    names = getattr(frame, "columns", None)
    names = [] if names is None else list(names)
    return names if all(isinstance(name, str) for name in names) else []
