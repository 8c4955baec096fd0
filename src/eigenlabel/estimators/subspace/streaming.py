"""Collect the blocks that a model is fitted to, and restrict this to linear kernels."""

from collections.abc import Callable
from types import MethodType
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from eigenlabel.estimators.subspace.columns import Columns, placed
from eigenlabel.estimators.subspace.stream import Stream
from eigenlabel.linalg.memory import check_memory

ADVICE = (
    "Hash the features (sklearn.feature_extraction.text.HashingVectorizer or FeatureHasher, "
    "n_features=2**12, say), or fit all rows at once with solver='krylov'."
)

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def check_linear(model: Any) -> None:
    """Raise AttributeError if the kernel of a model is not linear."""
    if model.kernel != "linear":
        raise AttributeError(
            "Statistics of blocks exist for kernel='linear' only, this is "
            f"kernel={model.kernel!r}. Map the features first (sklearn.kernel_approximation), or "
            "call fit."
        )


class linear_only(Generic[Parameters, Result]):  # noqa: N801
    """A method that exists for linear kernels only.

    Equivalent to ``sklearn.utils.metaestimators.available_if``, but the error states the reason.
    """

    def __init__(self, fn: Callable[Parameters, Result]) -> None:
        self.fn = fn
        self.__doc__ = fn.__doc__

    @overload
    def __get__(self, model: None, owner: type) -> Callable[Parameters, Result]: ...

    @overload
    def __get__(self, model: Any, owner: type) -> Callable[..., Result]: ...

    def __get__(self, model: Any, owner: type) -> Callable[..., Result]:
        """Return the method of a model with a linear kernel, or the function of the class."""
        if model is None:
            return self.fn
        check_linear(model)
        return MethodType(self.fn, model)


def extend(
    estimator: Any,
    stream: Stream | None,
    X: Any,
    y: Any,
    classes: Any = None,
    sample_weight: Any = None,
    *,
    n_folds: int = 1,
    max_memory: float = np.inf,
    where: str | None = None,
    offset: int = 0,
) -> Stream:
    """Check a block of samples and return the stream with it.

    Parameters
    ----------
    estimator : object
        The estimator, which remembers the features of the first block.
    stream : Stream or None
        The blocks before; None if this is the first block.
    X : array or sparse matrix
        The samples of the block.
    y : array or sparse matrix
        Their labels.
    classes : array or None
        The classes of a vector y, or the names of the columns of a label matrix.
    sample_weight : array or None
        Their weights.
    n_folds : int
        The number of folds of a new stream.
    max_memory : float
        Upper bound on the bytes of the d x d matrices of a new stream.
    where : str or None
        The place of the block in error messages, by default its number.
    offset : int
        The position of the first sample of a new stream.
    """
    number = 1 if stream is None else stream.blocks + 1
    with placed(where or f"Block {number}", X):
        if stream is None:
            columns = Columns.learn(estimator, X, y, classes)
            check_memory(columns.n_features, "covariance of the blocks", ADVICE, max_memory)
            stream = Stream.start(columns, n_folds, offset)
        elif classes is not None and not np.array_equal(classes, stream.columns.codec.classes):
            raise ValueError("classes differ from those of the first call.")
        block = stream.columns.check_block(estimator, X, y, sample_weight)
    return stream.add(block)
