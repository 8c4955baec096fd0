"""explain: the scores of a fitted model as sums of contributions."""

from typing import Any, NamedTuple

import numpy as np

from eigenlabel.inputs.parameters import check_number
from eigenlabel.inspection.contributions.base import FEATURE, Scale, Terms
from eigenlabel.inspection.contributions.linear import all_intercepts, shared_combinations
from eigenlabel.inspection.explanation import Borrowed, Explanation, find
from eigenlabel.inspection.transformed_features import WidthError, start
from eigenlabel.inspection.unwrapped_model import (
    Opened,
    check_sum,
    count_labels,
    make_terms,
    model_scores,
    unsupported,
    unwrap,
)
from eigenlabel.labels.label_sets import predicted_matrix
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.model_selection.classifier_scores import as_matrix
from eigenlabel.thresholds.rules import reads_probabilities, rule_of


def explain(
    model: Any,
    X: Any,
    *,
    labels: Any = None,
    n_top: int | None = 10,
    feature_names: Any = None,
    label_names: Any = None,
    sample_names: Any = None,
    training_names: Any = None,
) -> Explanation:
    """Explain the scores of samples: what each feature or training sample adds to them.

    The contributions and the intercept add up to the score of the model exactly, up to rounding.

    =============================  ==============================================================
    model                          contributions
    =============================  ==============================================================
    linear                         coefficient times value of each feature
    SharedSubspaceClassifier       the same, or dual coefficient times kernel value of each training
                                   sample; the part that comes through the shared subspace is
                                   separate, with the labels that it comes from
    SVC, one for each label        dual coefficient times kernel value of each support vector
    KGHA, KernelRidgeTagger        each view and training sample (or feature of a linear view)
    FastTag                        each feature of each view
    MLkNN                          equal parts of the neighbours with the label, in log-odds
    JEC                            the neighbours that decide
    MBRM, TagProp                  weighted votes of the neighbours; log-odds if TagProp has curves
    MultilabelBlend                the weighted log-odds of each member; ``explain`` a member of
                                   ``members_`` for the features or samples behind it
    =============================  ==============================================================

    Pipelines, ThresholdedClassifier, ProjectedClassifierCV, OneVsRestSearchCV, GridSearchCV,
    OneVsRestClassifier and MultiOutputClassifier are opened. Names are those of the features of the
    last transformer that names them; contributions of the components of a linear projection (PCA,
    TruncatedSVD, MDDM, ...) are computed for its input features. Sparse X is never converted to
    dense.

    Cost: for each sample, the number of labels times the number of features that are not zero, or
    of training samples. For a shared subspace of r dimensions, also r times as many for all
    features that the samples have.

    Parameters
    ----------
    model : classifier
        A fitted classifier.
    X : array-like, sparse matrix, frame or list of str
        The samples, as for ``predict``. Some of them, rather than all.
    labels : int, str, sequence of them or None, default=None
        The labels to explain, by position or name. None explains all.
    n_top : int or None, default=10
        The number of terms that are kept for each sample and label, those that add most by absolute
        value. All others are added up in the remainder. None keeps all.
    feature_names : sequence of str or None, default=None
        The names of the columns of X. None uses those of a frame, or x0, x1 and so on.
    label_names : sequence of str or None, default=None
        The names of all labels of the model. None uses its ``classes_``.
    sample_names : sequence of str or None, default=None
        The names of the samples. None uses the index of a pandas frame, or numbers from 0.
    training_names : sequence of str or None, default=None
        The names of the training samples, for models that compare samples with them. None uses
        numbers from 0.

    Returns
    -------
    explanation : Explanation
        The contributions.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import explain
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = SharedSubspaceClassifierCV(n_components=2).fit(data.X, data.Y)
    >>> found = explain(model, data.X[:3], n_top=5)
    >>> found.contributions.shape
    (3, 6, 5)
    >>> total = found.intercept + found.contributions.sum(axis=2) + found.remainder
    >>> bool(np.allclose(total, model.decision_function(data.X[:3])))
    True
    >>> bool(np.allclose(found.intercept + found.own + found.shared, found.score))
    True
    """
    if n_top is not None:
        check_number("n_top", n_top, 1, integer=True)
    seen = getattr(model, "feature_names_in_", None)
    opened = unwrap(model, start(X, feature_names, seen))
    m = count_labels(opened)
    scores = model_scores(opened, m)
    if scores.shape[1] != m:
        raise unsupported(opened.model)
    every = name_labels(model, m, label_names)
    chosen = choose_labels(labels, every)
    try:
        terms = make_terms(opened, chosen, training_names)
    except WidthError as error:
        raise unsupported(opened.model) from error
    check_sum(opened, terms, scores[:, chosen])
    total = terms.total()
    top = _find_top(terms, n_top)
    predicted = _predicted(model, X, m)[:, chosen]
    score = scores[:, chosen].astype(float) if terms.scale.name == "score" else total
    probability = _probabilities(model, X, m, chosen)
    cuts = _thresholds(opened, terms.scale, score, probability, predicted, chosen, m)
    return Explanation(
        terms.kind,
        terms.scale.name,
        _name_samples(X, len(score), sample_names),
        every[chosen],
        top.names,
        top.values,
        top.contributions,
        top.remainder,
        top.n_others,
        np.array(terms.intercept),
        score,
        predicted,
        cuts.values,
        probability,
        top.shared_total,
        top.shared,
        _borrow(opened, terms, scores, chosen, every, n_top),
        opened.space.notes if terms.kind == FEATURE else (),
        opened.space.texts if terms.kind == FEATURE else (),
        cuts.of,
    )


class Largest(NamedTuple):
    """The terms that add most: the fields of an Explanation of the same names."""

    names: np.ndarray
    values: Floats
    contributions: Floats
    remainder: Floats
    n_others: Ints
    shared: Floats | None
    shared_total: Floats | None


def _find_top(terms: Terms, n_top: int | None) -> Largest:
    """Return the terms that add most to each score; labels are processed in blocks."""
    n, q = terms.intercept.shape
    counts = [terms.count(i) for i in range(n)]
    k = max(counts, default=0) if n_top is None else min(n_top, max(counts, default=0))
    names = np.full((n, q, k), "", dtype=object)
    values, parts, shared = np.zeros((3, n, q, k))
    remainder, shared_total = np.zeros((2, n, q))
    others = np.zeros((n, q), dtype=np.intp)
    for i, count in enumerate(counts):
        for block in row_blocks(q, max(1, count)):
            row = terms.row(i, block)
            at = largest(np.abs(row.contributions), k)
            there = np.s_[i, block, : at.shape[1]]
            names[there] = terms.names[row.columns[at]]
            values[there] = row.values[at]
            parts[there] = np.take_along_axis(row.contributions, at, axis=1)
            remainder[i, block] = _rest(row.contributions, at)
            others[i, block] = np.count_nonzero(row.contributions, axis=1)
            if row.shared is not None:
                shared[there] = np.take_along_axis(row.shared, at, axis=1)
                shared_total[i, block] = row.shared.sum(axis=1)
    names[parts == 0] = ""
    shown = parts != 0
    k = int(shown.sum(axis=2).max(initial=0))  # contributions of zero come last
    cut = np.s_[:, :, :k]
    found = names[cut], values[cut], parts[cut], remainder, others - shown.sum(axis=2)
    if terms.shared is None:
        return Largest(*found, None, None)
    return Largest(*found, shared[cut], shared_total)


def _rest(contributions: Floats, shown: Ints) -> Floats:
    """Return the sums of the contributions that are not shown."""
    left = contributions.copy()
    np.put_along_axis(left, shown, 0.0, axis=1)
    return np.asarray(left.sum(axis=1))


def largest(sizes: Floats, k: int) -> Ints:
    """Return the positions (q, k) of the k largest numbers of each row, of equal ones the first.

    Cost: one partition of each row, and a sort of k numbers.
    """
    q, c = sizes.shape
    k = min(k, c)
    if k == 0:
        return np.zeros((q, 0), dtype=np.intp)
    if k == c:
        return np.argsort(-sizes, axis=1, kind="stable")
    bound = np.partition(sizes, c - k, axis=1)[:, c - k]
    found = np.empty((q, k), dtype=np.intp)
    for j, row in enumerate(sizes):
        above = np.flatnonzero(row > bound[j])
        equal = np.flatnonzero(row == bound[j])[: k - len(above)]
        both = np.sort(np.concatenate([above, equal]))
        found[j] = both[np.argsort(-row[both], kind="stable")]
    return found


def _borrow(
    opened: Opened,
    terms: Terms,
    scores: Floats,
    chosen: Ints,
    names: np.ndarray,
    n_top: int | None,
) -> Borrowed | None:
    """Return the labels that the shared part of each score comes from."""
    W = shared_combinations(opened.model)
    if W is None or terms.shared is None:
        return None
    coefficients = opened.coefficients
    origin = (
        opened.model.intercept_
        if coefficients is None
        else all_intercepts(coefficients, opened.space)
    )
    F = scores - origin  # (n, m)
    n, m = F.shape
    q, k = len(chosen), max(0, m - 1) if n_top is None else min(n_top, m - 1)
    found = Borrowed(
        np.full((n, q, k), "", dtype=object),
        np.zeros((n, q, k)),
        np.zeros((n, q, k)),
        np.zeros((n, q)),
        np.zeros((n, q)),
    )
    for block in row_blocks(q, m):
        weights = np.asarray(W[chosen[block]] @ W.T, dtype=float)  # (block, m)
        own = np.arange(len(weights)), chosen[block]
        for i in range(n):
            parts = weights * F[i]
            found.itself[i, block] = parts[own]
            parts[own] = 0.0
            at = largest(np.abs(parts), k)
            found.labels[i, block] = names[at]
            found.weights[i, block] = np.take_along_axis(weights, at, axis=1)
            found.contributions[i, block] = np.take_along_axis(parts, at, axis=1)
            found.remainder[i, block] = _rest(parts, at)
    found.labels[found.contributions == 0] = ""
    return found


# Names, decisions and probabilities


def name_labels(model: Any, m: int, given: Any) -> np.ndarray:
    """Return the names of the m scores of a model."""
    names = getattr(model, "classes_", None) if given is None else given
    if names is None or (given is None and isinstance(names, list)):
        names = range(m)
    found = np.array([str(name) for name in names], dtype=object)
    if given is None and m == 1 and len(found) == 2:
        return found[1:]  # the score of the second of two classes
    if len(found) != m:
        raise ValueError(f"{len(found)} label_names for {m} labels: pass one for each.")
    return found


def choose_labels(labels: Any, names: np.ndarray) -> Ints:
    """Return the positions of the labels to explain."""
    if labels is None:
        return np.arange(len(names))
    single = isinstance(labels, str) or np.ndim(labels) == 0
    found = [find(label, names, "label") for label in ([labels] if single else labels)]
    if not found:
        raise ValueError("labels is empty: pass at least one label, or None for all.")
    return np.array(found, dtype=np.intp)


def _name_samples(X: Any, n: int, given: Any) -> np.ndarray:
    names = given
    if names is None:
        names = X.index if hasattr(X, "iloc") else range(n)
    found = np.array([str(name) for name in names], dtype=object)
    if len(found) != n:
        raise ValueError(f"{len(found)} sample_names for {n} samples: pass one for each.")
    return found


def _predicted(model: Any, X: Any, m: int) -> Bools:
    """Return which labels (n, m) a model predicts, or which class of a vector y."""
    found = predicted_matrix(model.predict(X), getattr(model, "classes_", None))
    if np.ndim(found) == 2:
        return np.asarray(found > 0)
    classes = np.asarray(model.classes_)
    columns = classes[1:] if m == 1 and len(classes) == 2 else classes
    return np.asarray(np.asarray(found)[:, None] == columns)


class Decisive(NamedTuple):
    """The thresholds of labels (q,), or None, and what they are compared with."""

    values: Floats | None
    of: str


def _thresholds(
    opened: Opened,
    scale: Scale,
    score: Floats,
    probability: Floats | None,
    predicted: Bools,
    chosen: Ints,
    m: int,
) -> Decisive:
    """Return the thresholds, those of scores on the scale of the explanation.

    They are NaN for labels whose decisions are not comparisons with the threshold.
    """
    decider = next((x for x in opened.chain if hasattr(x, "thresholds_")), None)
    compared, of = score, "score"
    if decider is None:
        found = np.zeros(m)  # the score zero, or equal odds
    elif probability is not None and reads_probabilities(rule_of(decider)):
        found = np.asarray(decider.thresholds_, dtype=float)
        compared, of = probability, "probability"
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            found = scale.of_score(np.asarray(decider.thresholds_, dtype=float))
    if np.shape(found) != (m,):
        return Decisive(None, of)
    cuts = np.asarray(found, dtype=float)[chosen]
    near = np.abs(compared - cuts) <= 1e-9 * (np.abs(compared) + np.abs(cuts))
    agree = ((compared > cuts) == predicted) | near
    return Decisive(np.where(agree.all(axis=0), cuts, np.nan), of)


def _probabilities(model: Any, X: Any, m: int, chosen: Ints) -> Floats | None:
    """Return the probabilities (n, q) that a model predicts, or None."""
    if not hasattr(model, "predict_proba"):
        return None
    found = as_matrix(model.predict_proba(X), m, getattr(model, "classes_", None))
    if found.ndim != 2 or found.shape[1] != m:
        return None
    return np.asarray(found[:, chosen], dtype=float)
