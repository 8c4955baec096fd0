"""Held-out scores of a classifier, by fitting it again without each of five folds."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from eigenlabel.inputs.data import unmasked
from eigenlabel.inputs.sklearn_private import take_samples
from eigenlabel.inputs.views import indexable
from eigenlabel.inputs.warning import ignored
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.model_selection.classifier_scores import class_scores
from eigenlabel.model_selection.splits import MultilabelStratifiedKFold, check_positions

FOLDS = 5


def check_enough(rows: Ints) -> None:
    """Raise ValueError if there are too few samples to hold some of them out."""
    if len(rows) < 2:
        raise ValueError(
            "calibration needs held-out scores, hence at least 2 samples with labels and positive "
            f"weight, got n_samples = {len(rows)}: pass calibration=None, or more samples."
        )


def calibration_folds(Y: Bools, rows: Ints) -> list[Ints]:
    """Return the test rows of the folds of a calibration: five, or one for each of fewer samples.

    ``rows`` are the positions of the samples that are held out in turn.
    """
    check_enough(rows)
    splitter = MultilabelStratifiedKFold(min(FOLDS, len(rows)))
    return [rows[test] for _, test in splitter.split(rows, Y[rows])]


def heldout_scores(
    model: Any,
    codec: LabelCodec,
    X: Any,
    y: Any,
    Y: Bools,
    weights: Floats | None = None,
    known: Bools | None = None,
) -> Floats:
    """Return the scores (n, m) that samples have if the model is fitted without their fold.

    They are NaN for samples of weight zero or without known labels, and for a class that only the
    samples of the fold have. The cost is that of five fits to four fifths of the samples.

    Parameters
    ----------
    model : ScoreClassifier
        The classifier; clones of it are fitted.
    codec : LabelCodec
        The form of y.
    X : array, sparse matrix, frame, Views, dict or list
        The samples, as the user passed them.
    y : array-like
        The labels, as the user passed them.
    Y : ndarray of shape (n_samples, n_labels), bool
        The label matrix.
    weights : ndarray of shape (n_samples,), default=None
        The sample weights.
    known : ndarray of shape (n_samples,), bool, default=None
        The samples whose labels are known; others are training samples of every fold.
    """
    counts = np.ones(len(Y), dtype=bool) if known is None else known
    rows = np.flatnonzero(counts if weights is None else counts & (weights > 0))
    X = indexable(X)
    target = _target(codec, y, Y, known)
    plain = {name: "zero" for name in ("threshold",) if name in model.get_params(deep=False)}
    empty = clone(model).set_params(calibration=None, **plain)
    out = np.full(Y.shape, np.nan)
    for test in calibration_folds(Y, rows):
        train = np.setdiff1d(np.arange(len(Y)), test)
        part = _fit(clone(empty), model.calibration, X, target, weights, train)
        scores = part._scores(take_samples(part, X, None, test, train)[0])
        if not codec.multilabel:
            scores = class_scores(scores, part.classes_, codec.classes)
        out[test] = scores
    return out


def covering_folds(folds: Iterable[tuple[Any, Any]], n: int, cv: Any) -> list[tuple[Ints, Ints]]:
    """Return the training and test positions of folds that test each of n samples once.

    Parameters
    ----------
    folds : iterable of pairs
        The training and test rows: positions, which may count from the end, or masks.
    n : int
        The number of samples.
    cv : object
        What the user passed as folds, for the messages.

    Raises
    ------
    ValueError
        If a sample is in the test part of no fold, or of several.
    """
    pairs = [(_positions(train, n), _positions(test, n)) for train, test in folds]
    times = np.bincount(np.concatenate([test for _, test in pairs]), minlength=n)
    if (times == 0).any():
        raise ValueError(
            f"cv={cv!r} leaves sample {int(np.argmax(times == 0))} without held-out scores: its "
            "test parts must cover all samples."
        )
    if (times > 1).any():
        raise ValueError(
            f"cv={cv!r} tests sample {int(np.argmax(times > 1))} {times.max()} times: its test "
            "parts must not overlap. Use a splitter without repeats."
        )
    return pairs


def collect_heldout(
    score: Callable[[Ints, Ints], Floats],
    folds: Iterable[tuple[Ints, Ints]],
    shape: tuple[int, ...],
    n_jobs: Any,
    cv: Any,
) -> Floats:
    """Return the held-out scores (n, m) of a label matrix, each sample from one fold.

    Parameters
    ----------
    score : callable
        Fits to the training rows (first argument) and returns the scores of the test rows (second
        argument).
    folds : iterable of pairs
        The training and test rows.
    shape : tuple of int
        The shape of the label matrix.
    n_jobs : int or None
        The number of folds that are fitted in parallel.
    cv : object
        What the user passed as folds, for the messages.
    """
    pairs = covering_folds(folds, shape[0], cv)
    found = Parallel(n_jobs=n_jobs)(delayed(score)(*pair) for pair in pairs)
    out = np.empty(shape)
    for (_, test), scores in zip(pairs, found, strict=True):
        out[test] = scores
    return out


def _positions(part: Any, n: int) -> Ints:
    """Return the positions of a part of a split, which may be a mask or count from the end."""
    listed = np.asarray(part)
    check_positions(listed, n)
    rows: Ints = np.arange(n)[listed]
    return rows


def class_heldout(
    score: Callable[[Ints, Ints], tuple[Any, Any]],
    folds: Iterable[tuple[Ints, Ints]],
    target: Any,
    codec: LabelCodec,
    n_jobs: Any = None,
) -> Floats:
    """Return the held-out scores (n, m) of a vector of classes.

    Training parts of one class are left out, because many classifiers need two.

    Parameters
    ----------
    score : callable
        Fits to the training rows (first argument) and returns the decision function of the test
        rows (second argument), and the classes that were seen.
    folds : iterable of pairs
        The training and test rows.
    target : ndarray of shape (n_samples,)
        The classes of the samples.
    codec : LabelCodec
        The form of y.
    n_jobs : int or None, default=None
        The number of folds that are fitted in parallel.
    """
    m = len(codec.classes)
    out = np.full((len(target), 1 if codec.kind == "binary" else m), np.nan)
    pairs = [pair for pair in folds if m == 1 or len(np.unique(target[pair[0]])) > 1]
    found = Parallel(n_jobs=n_jobs)(delayed(score)(*pair) for pair in pairs)
    for (_, test), (scores, seen) in zip(pairs, found, strict=True):
        out[test] = class_scores(scores, seen, codec.classes)
    return out


def _target(codec: LabelCodec, y: Any, Y: Bools, known: Bools | None) -> Any:
    """Return y as an array, with NaN in the rows of a label matrix that are not known."""
    if not codec.multilabel:
        return np.asarray(unmasked(y)).reshape(len(Y))
    return Y.astype(int) if known is None or known.all() else np.where(known[:, None], Y, np.nan)


def _fit(
    part: Any, calibration: str, X: Any, target: Any, weights: Floats | None, train: Ints
) -> Any:
    """Fit a clone to the training part; the fit to all samples issues the warnings."""
    weighted = {} if weights is None else {"sample_weight": weights[train]}
    try:
        with ignored(UserWarning):
            return part.fit(*take_samples(part, X, target, train), **weighted)
    except ValueError as error:
        raise ValueError(
            f"calibration={calibration!r} needs held-out scores, and the fit to {len(train)} of "
            f"{len(target)} samples failed: {error} Pass calibration=None, or more samples."
        ) from error
