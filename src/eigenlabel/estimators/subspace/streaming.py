"""Fit block by block: exact statistics, solved when something of the model is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from eigenlabel.datasets import DataError, iterate
from eigenlabel.estimators.subspace import many_labels
from eigenlabel.estimators.subspace.stream import Stream
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import check_parameters
from eigenlabel.inputs.validation import (
    beyond_rounding,
    check_data,
    check_largest,
    check_sparse,
    check_spread,
    check_weights,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.memory import check_memory
from eigenlabel.linalg.statistics import Accumulator, Block, Statistics

ADVICE = (
    "Hash the features (sklearn.feature_extraction.text.HashingVectorizer or FeatureHasher, "
    "n_features=2**12, say), or fit all rows at once with solver='krylov'."
)


@contextmanager
def _naming(where: str, X: Any) -> Iterator[None]:
    """Say which block an error is about, and which row if it is a value that is no number."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{where}{_bad_row(X)}: {error}") from error


def _bad_row(X: Any) -> str:
    if np.iscomplexobj(X):
        return ""
    try:
        check_sparse(X, "X")
        A = sp.csr_array(X) if sp.issparse(X) else np.asarray(X, dtype=float)
        bad = ~np.isfinite(A.data if sp.issparse(A) else A)
    except (ValueError, TypeError):
        return ""
    if not bad.any() or np.ndim(A) != 2:
        return ""
    if sp.issparse(A):
        row = int(np.searchsorted(A.indptr, np.flatnonzero(bad)[0], side="right")) - 1
    else:
        row = int(np.flatnonzero(bad.any(axis=1))[0])
    return f", row {row}"


@contextmanager
def _like_the_first(path: Path, later: bool) -> Iterator[None]:
    """Add to an error in a later file that the first one told the columns."""
    try:
        yield
    except DataError as error:
        if not later or "beyond" not in error.reason:
            raise
        hint = "as in the first file; pass n_features and n_labels, or like"
        raise DataError(path, f"{error.reason} ({hint})", error.line) from error


_BY_BLOCKS = ("partial_fit", "forget", "merge", "fit_files", "finish")


def _linear_only(model: Any) -> bool:
    if model.kernel != "linear":
        raise AttributeError(
            f"Statistics of blocks exist for kernel='linear' only, this is kernel={model.kernel!r}."
            " Map the features first (sklearn.kernel_approximation), or call fit."
        )
    return True


class StreamMixin:
    """``partial_fit``, ``merge`` and ``fit_files`` of a linear method that statistics suffice for.

    Subclasses give ``_solve_stream(stream)``, which sets the attributes of ``_solved``. Blocks are
    only collected; the first attribute or prediction that is asked for solves.
    """

    _solved = frozenset(
        {
            "coef_",
            "components_",
            "intercept_",
            "eigenlabels_",
            "eigenvalues_",
            "n_components_",
            "n_iter_",
            "_embedding_offset",
        }
    )
    _stream_folds = 1

    def __getattr__(self, name: str) -> Any:
        if name in _BY_BLOCKS:  # refused by available_if, which does not say why
            _linear_only(self)
        stream = vars(self).get("_stream")
        if stream is None or name not in self._solved:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._solve_blocks()
        return vars(self)[name]

    @all_or_nothing
    def _solve_blocks(self) -> None:
        self._stream = self._stream.settle()
        self._check_filled(self._stream)
        self._solve_stream(self._stream)

    @all_or_nothing
    def _take_over(self, other: Any) -> None:
        """Begin anew with all that another model of the same parameters has learnt."""
        self._begin_anew()
        learnt = {k: v for k, v in vars(other).items() if k not in self.get_params()}
        vars(self).update(learnt)

    def __getstate__(self) -> Any:
        if "_stream" in vars(self):
            self._stream = self._stream.settle()  # files hold statistics, not rows
        return super().__getstate__()

    def _without_blocks(self) -> Any:
        """Return a model with the same attributes that cannot solve anything, to be displayed."""
        shown = object.__new__(type(self))
        shown.__dict__ = {name: value for name, value in vars(self).items() if name != "_stream"}
        return shown

    def _repr_html_inner(self) -> Any:
        return super(StreamMixin, self._without_blocks())._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return super(StreamMixin, self._without_blocks())._repr_mimebundle_(**kwargs)

    def _drop_stream(self) -> None:
        for name in ("_stream", "n_samples_seen_", "_finished"):
            vars(self).pop(name, None)

    def _begin_anew(self) -> None:
        for name in (*self._solved, "classes_"):
            vars(self).pop(name, None)
        self._drop_stream()

    def _check_by_blocks(self, products: bool) -> None:
        """Refuse what cannot be fitted by blocks: statistics, or products alone."""
        _linear_only(self)
        if not products:
            self._check_stream()
        elif not hasattr(self, "_fit_known"):
            raise ValueError(
                "Tuning on blocks works on their statistics: use solver='auto', got 'krylov'."
            )

    def _check_filled(self, stream: Stream) -> None:
        total = stream.total()
        if total.n <= 0:
            raise NotFittedError("No samples are left, or all of weight zero: call partial_fit.")
        if stream.seen > self.n_samples_seen_:
            _check_possible(total)
        spread = np.maximum(np.diag(total.XX), 0) / total.n
        spread = beyond_rounding(spread, total.mean, total.dtype)
        check_spread(spread, max(total.count, len(total.x)))

    def _check_stream(self) -> None:
        check_parameters(self)
        self._make_kernel()
        if self.solver not in ("auto", "covariance"):
            raise ValueError(
                "Blocks are collected in the d x d covariance: use solver='auto' or 'covariance', "
                f"got {self.solver!r}."
            )

    def _check_block(self, X: Any, y: Any, sample_weight: Any, codec: LabelCodec) -> Block:
        X = check_data(self, X, reset=False)
        check_largest(X)
        Y = codec.encode(y)
        check_consistent_length(X, Y)
        return Block(X, Y, check_weights(sample_weight, X))

    def _absorb(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        where: str | None = None,
        offset: int = 0,
    ) -> None:
        stream = vars(self).get("_stream")
        number = 1 if stream is None else stream.blocks + 1
        with _naming(where or f"Block {number}", X):
            if stream is None:
                stream = replace(self._start_stream(X, y, classes), offset=offset)
            elif classes is not None and not np.array_equal(classes, self.classes_):
                raise ValueError("classes differ from those of the first call.")
            block = self._check_block(X, y, sample_weight, stream.codec)
        self._take(stream.add(block), len(block.Y))

    def _start_stream(self, X: Any, y: Any, classes: Any) -> Stream:
        if "_finished" in vars(self):
            raise ValueError(
                "no block can be added after finish, which let go of the statistics. Call finish "
                "when all blocks are in, or begin anew with sklearn.base.clone(model)."
            )
        if "classes_" in vars(self):
            warn(
                "fit keeps no statistics to add to: the model begins anew with this block. Use "
                "partial_fit for all samples.",
                UserWarning,
            )
            classes = self.classes_ if classes is None else classes
        self._check_stream()
        self._learn_columns(X, y, classes)
        limit = self._solver().limit
        check_memory(self.n_features_in_, "covariance of the blocks", ADVICE, limit)
        return Stream.start(self._codec, self._stream_folds)

    def _learn_columns(self, X: Any, y: Any, classes: Any) -> None:
        check_data(self, X, reset=True)
        self._kernel = self._make_kernel()
        self._codec = LabelCodec.start(y, classes)
        self.classes_ = self._codec.classes
        m = len(self.classes_)
        if m >= many_labels.MANY:
            raise ValueError(
                f"Blocks are collected in statistics of d x m numbers, which are not for m = {m} "
                f"labels (the limit is {many_labels.MANY}). Fit all rows at once: fit of "
                "SharedSubspaceClassifier(alpha=inf) holds no such array."
            )

    def _first_block(self, X: Any, y: Any, classes: Any, weight: Any, where: str) -> Block:
        """Learn the columns of a block and check it, without its statistics."""
        with _naming(where, X):
            self._learn_columns(X, y, classes)
            return self._check_block(X, y, weight, self._codec)

    def _take(self, stream: Stream, more: int) -> None:
        """Go on with a stream of so many samples more; what was solved is solved no longer."""
        for name in self._solved:
            vars(self).pop(name, None)
        self._stream = stream
        self.n_samples_seen_ = vars(self).get("n_samples_seen_", 0) + more

    @available_if(_linear_only)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Take in a block of samples, exactly: the model is that of one ``fit`` on all blocks.

        The order of blocks does not matter. Only statistics are collected (n d^2 for a block, d x d
        numbers in all); the equations are solved when a prediction or a fitted attribute is asked
        for. A block that is refused leaves the model as it was.

        Parameters
        ----------
        X, y, sample_weight : as in ``fit``, of one block
        classes : all classes of a vector y, needed in the first call; or names for the labels of a
            matrix

        After ``fit``, which keeps no statistics, it begins anew, with a warning.
        """
        self._absorb(X, y, classes, sample_weight)
        return self

    @available_if(_linear_only)
    @all_or_nothing
    def finish(self) -> Any:
        """Solve, and let go of the statistics, and of the rows that tuning keeps.

        The model takes less memory then, and its file tells less; no block can be added to it.
        """
        if "_stream" not in vars(self):
            raise NotFittedError("finish needs a model fitted by partial_fit or fit_files.")
        self.intercept_  # noqa: B018  solves
        self._drop_stream()
        self._finished = True
        return self

    @available_if(_linear_only)
    @all_or_nothing
    def merge(self, other: Any) -> Any:
        """Take in all samples of another model that was fitted by blocks, which stays as it is."""
        if not isinstance(other, StreamMixin):
            raise TypeError(
                f"merge needs another {type(self).__name__} that was fitted by partial_fit or "
                f"fit_files, got {other!r}."
            )
        mine, theirs = (vars(model).get("_stream") for model in (self, other))
        if mine is None or theirs is None:
            raise NotFittedError(
                "merge needs two models that were fitted by partial_fit or fit_files: fit keeps no "
                "statistics."
            )
        self._check_alike(other, mine, theirs)
        self._take(mine.merge(theirs), other.n_samples_seen_)
        return self

    def _check_alike(self, other: Any, mine: Stream, theirs: Stream) -> None:
        if type(self) is not type(other) or len(mine.folds) != len(theirs.folds):
            raise ValueError("Only models of one class, with as many folds, can be merged.")
        self._check_columns(other)

    def _check_columns(self, other: Any) -> None:
        if self.n_features_in_ != other.n_features_in_:
            raise ValueError(
                f"The other model has {other.n_features_in_} features, this one "
                f"{self.n_features_in_}."
            )
        names = [vars(model).get("feature_names_in_") for model in (self, other)]
        if names[0] is not None and names[1] is not None and not np.array_equal(*names):
            raise ValueError("The two models have features of different names.")
        alike = self._codec.kind == other._codec.kind
        if not alike or not np.array_equal(self.classes_, other.classes_):
            raise ValueError("The two models have different labels or classes.")

    @available_if(_linear_only)
    @all_or_nothing
    def fit_files(self, paths: Any, *, rows: int = 4096, like: Any = None, **options: Any) -> Any:
        """Fit to data files that need not fit in memory, read once, piece by piece.

        Equal to ``fit`` on all their rows. ``classes_`` are the names of the labels. The model
        can be added to afterwards. If something goes wrong, the model is as it was before.

        Parameters
        ----------
        paths : a path, or several, of any form that ``eigenlabel.datasets.iterate`` reads
        rows : samples that are in memory at once
        like : Dataset whose features and labels the files have to have; the first piece by default
        options : those of the form's reader, see ``eigenlabel.datasets.load``
        """
        several = [paths] if isinstance(paths, (str, Path)) else list(paths)
        if not several:
            raise ValueError("fit_files got no paths.")
        self._begin_anew()
        first = None
        for path in map(Path, several):
            given = like if first is None else first
            with _like_the_first(path, like is None and first is not None):
                first = self._absorb_file(path, rows, given, options)
        return self

    def _absorb_file(self, path: Path, rows: int, like: Any, options: dict[str, Any]) -> Any:
        before = 0
        for piece in iterate(path, rows=rows, like=like, **options):
            like = piece if like is None else like
            n = piece.X.shape[0]
            where = f"{path.name}, samples {before} to {before + n - 1}"
            names = np.asarray(piece.label_names)
            self._absorb(piece.X, piece.Y, names, None, where)
            before += n
        return like


class ForgetMixin:
    """``forget``, for streams without folds."""

    @available_if(_linear_only)
    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Take out samples that were taken in before, exactly, with the weights they had.

        What is left is the model of one fit on the other samples, but for rounding relative to
        all that ever was in it. Samples that never were in it are noticed where the statistics
        say so (more of them than there are, negative variances), not otherwise.
        """
        stream = vars(self).get("_stream")
        if stream is None:
            raise NotFittedError("forget needs a model fitted by partial_fit or fit_files.")
        gone = self._check_block(X, y, sample_weight, stream.codec).statistics()
        total = stream.total()
        rest = total - gone
        _check_rest(total, gone, rest)
        left = Accumulator(_without_rounding(total, rest))
        self._take(replace(stream, folds=(left,)), -gone.count)
        return self


def _check_possible(total: Statistics) -> None:
    """Raise ValueError if no samples have these statistics: their covariance has a negative part.

    Rounding of all that ever was in the statistics is allowed for; p^3 / 3 operations.
    """
    lifted, spread = total.XX.copy(), float(np.trace(total.XX))
    if spread <= 0:  # every feature is constant
        return
    lifted.flat[:: len(lifted) + 1] += np.sqrt(np.finfo(float).eps) * spread
    if lapack.dpotrf(lifted, lower=1, clean=0, overwrite_a=1)[1] > 0:
        raise ValueError(
            "The samples that forget took out were not all among those taken in: no samples have "
            "the statistics that are left. Add them again with partial_fit to undo it."
        )


def _check_rest(total: Statistics, gone: Statistics, rest: Statistics) -> None:
    if gone.count > total.count:
        raise ValueError(f"Cannot forget {gone.count} samples: the model has seen {total.count}.")
    room = 1e-8 * max(total.n, 1.0)
    weight = total.n - gone.n
    if weight < -room or (rest.count == 0 and weight > room):
        raise ValueError(
            f"Samples of weight {gone.n:.6g} are to be forgotten, of {total.n:.6g} in the model: "
            "give them the weights that they had."
        )
    # The totals of all features and labels: one that has become constant has none of its own.
    largest = np.maximum(np.abs(total.origin), np.abs(total.x))
    of_mean = total.n * (4 * float(np.finfo(total.dtype).eps) * largest) ** 2
    spread = 1e-8 * np.diag(total.XX).max(initial=0.0) + of_mean
    negative = (np.diag(rest.XX) < -spread).any() or rest.TT.min() < -1e-8 * total.n
    if negative or (np.abs(rest.t) > 1 + 1e-6).any():
        raise ValueError(
            "These samples were not all in the model, or not with these labels: nothing is "
            "forgotten."
        )


def _without_rounding(total: Statistics, rest: Statistics) -> Statistics:
    """Give the rest of a total with zeros where features or labels have become constant.

    Subtraction leaves rounding of either sign there.
    """
    least = 64 * float(np.finfo(float).eps)
    features = np.diag(rest.XX) > least * np.diag(total.XX)
    labels = least * total.TT < rest.TT
    return replace(
        rest,
        XX=np.where(features[:, None] & features, rest.XX, 0.0),
        XT=np.where(features[:, None] & labels, rest.XT, 0.0),
        TT=np.where(labels, rest.TT, 0.0),
    )
