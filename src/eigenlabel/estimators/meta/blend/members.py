"""The members of a blend: the library's own by name, any classifier, and held-out scores."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context, get_config
from sklearn.base import clone, is_regressor
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.base import ScoreClassifier
from eigenlabel.estimators.meta.blend.apart import Apart, CannotTravelError
from eigenlabel.estimators.meta.blend.base import OwnMember
from eigenlabel.estimators.meta.blend.budget import RESERVE, Budget
from eigenlabel.estimators.meta.blend.each_label import EachLabel
from eigenlabel.estimators.meta.blend.forest import LabelForest
from eigenlabel.estimators.meta.blend.kernel_subspace import (
    MOST_LABELS,
    KernelSubspace,
    Presence,
    tuned_linear,
)
from eigenlabel.estimators.meta.blend.label_sets import LabelSets
from eigenlabel.estimators.meta.blend.member_costs import (
    forest_seconds,
    judging_seconds,
    kernel_seconds,
    kgha_seconds,
    laplacian_seconds,
    linear_seconds,
    margin_seconds,
    neighbour_seconds,
    second_forest_seconds,
    set_seconds,
    word_seconds,
)
from eigenlabel.estimators.meta.blend.neighbours_and_words import (
    NeighbourShares,
    WordRatios,
)
from eigenlabel.estimators.meta.blend.preparing import reads_tables
from eigenlabel.estimators.meta.blend.task import BlendTask, Form
from eigenlabel.estimators.subspace.base import BaseSharedSubspace
from eigenlabel.estimators.subspace.classifier import SharedSubspaceClassifier
from eigenlabel.inputs.data import is_estimator
from eigenlabel.inputs.sklearn_private import take_rows, take_samples
from eigenlabel.inputs.warning import ignored
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.model_selection.classifier_scores import class_scores, score_method, scores_matrix

GROWING = 0.5  # share of the time that is left in which trees are grown; the rest is for averages


@dataclass(frozen=True)
class MemberRecipe:
    """How a member is made, what it costs, and when it is worth its seconds.

    Attributes
    ----------
    make : callable
        Returns the classifier, given the task.
    seconds : callable
        Returns the predicted seconds, given the form of the data.
    gain : float
        The expected gain relative to other members, by which they are ordered per second.
    suits : callable
        Returns whether the member can be used, given the form of the data.
    default : bool
        Whether it is a default member where it suits.
    second : bool
        Whether it reads the blended probabilities of the others instead of the samples.
    """

    make: Callable[[BlendTask], Any]
    seconds: Callable[[Form], float]
    gain: float
    suits: Callable[[Form], bool]
    default: bool = True
    second: bool = False


def _linear(task: BlendTask) -> Any:
    m = task.Y.shape[1]
    if m > MOST_LABELS:  # one penalty, cross-validated like a classifier of the user
        return SharedSubspaceClassifier(alpha=np.inf, calibration=None)
    return tuned_linear(task.form.n, task.form.d, m, task.form.sparse, task.folds)


def _margin(task: BlendTask) -> Any:
    # The penalty is chosen by the calibration and the weights: one value costs enough.
    return EachLabel(LinearSVC(C=0.3, random_state=task.seed), n_jobs=task.n_jobs)


def _forest(task: BlendTask) -> Any:
    n_trees = 150 if len(task.Y) <= 10_000 else 100
    leaf = max(2, len(task.Y) // 20_000)
    return LabelForest(n_trees, min_samples_leaf=leaf, n_jobs=task.n_jobs, random_state=task.seed)


RECIPES: dict[str, MemberRecipe] = {
    "linear": MemberRecipe(_linear, linear_seconds, 1.0, lambda f: f.joined),
    "neighbours": MemberRecipe(
        lambda task: NeighbourShares(cv=task.folds, random_state=task.seed),
        neighbour_seconds,
        0.2,
        lambda f: f.joined and not f.constant,
    ),
    "words": MemberRecipe(
        lambda task: WordRatios(cv=task.folds),
        word_seconds,
        0.2,
        lambda f: f.sparse and not f.negative and not f.constant,
    ),
    "forest": MemberRecipe(_forest, forest_seconds, 1.0, lambda f: f.joined and not f.constant),
    "laplacian": MemberRecipe(
        lambda task: KernelSubspace("laplacian", cv=task.folds, random_state=task.seed),
        laplacian_seconds,
        1.0,
        lambda f: f.joined and not f.sparse and not f.constant and f.m <= MOST_LABELS,
    ),
    "presence": MemberRecipe(
        lambda task: Presence(cv=task.folds),
        linear_seconds,
        0.5,
        lambda f: f.sparse and not f.negative and not f.constant and f.m <= MOST_LABELS,
    ),
    "gaussian": MemberRecipe(
        lambda task: KernelSubspace("rbf", cv=task.folds, random_state=task.seed),
        kernel_seconds,
        0.3,
        lambda f: f.joined and not f.constant and f.m <= MOST_LABELS,
        default=False,  # adds little beside the Laplacian kernel, or to a linear model of words
    ),
    "margin": MemberRecipe(
        _margin, margin_seconds, 0.1, lambda f: f.joined and not f.constant, default=False
    ),
    "views": MemberRecipe(lambda _: KGHA(calibration=None), kgha_seconds, 1.0, lambda f: f.views),
    "labels": MemberRecipe(
        lambda task: LabelForest(50, n_jobs=task.n_jobs, random_state=task.seed),
        second_forest_seconds,
        0.2,
        lambda f: f.multilabel and f.m > 1 and not f.constant,
        second=True,
    ),
    "sets": MemberRecipe(
        lambda task: LabelSets(random_state=task.seed),
        set_seconds,
        0.2,
        lambda f: f.multilabel and f.m > 1 and f.complete and not f.constant,
        second=True,
    ),
}


@dataclass(frozen=True)
class Candidate:
    """A member that may be fitted.

    Attributes
    ----------
    name : str
        Its name.
    recipe : MemberRecipe or None
        How it is made, for the library's own.
    estimator : classifier or None
        The classifier of the user.
    """

    name: str
    recipe: MemberRecipe | None = None
    estimator: Any = None

    def predicted(self, form: Form) -> float | None:
        """Return the predicted seconds with those of calibration and figures.

        They are None for a classifier of the user.
        """
        if self.recipe is None:
            return None
        return float(self.recipe.seconds(form)) + judging_seconds(form)


def list_candidates(members: Any, form: Form) -> list[Candidate]:
    """Return the candidates that the parameter ``members`` stands for."""
    if isinstance(members, str) and members in ("auto", "all"):
        every = members == "all"
        return [
            Candidate(name, one)
            for name, one in RECIPES.items()
            if one.suits(form) and (every or one.default)
        ]
    return [_candidate(one) for one in check_members(members)]


def check_members(members: Any) -> list[Any]:
    """Raise an error unless ``members`` is a word, or a list of names and (name, classifier)."""
    if isinstance(members, str) and members in ("auto", "all"):
        return []
    if isinstance(members, str) or not isinstance(members, Sequence):
        raise TypeError(
            "members must be 'auto', 'all', or a list of names and pairs (name, classifier), got "
            f"{members!r}."
        )
    if not members:
        raise ValueError("members is empty: pass at least one, or 'auto'.")
    names = [_check_member(one) for one in members]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise ValueError(f"Two members are called {double!r}: names must differ.")
    return list(members)


def _check_member(one: Any) -> str:
    """Return the name of an entry of ``members``."""
    if isinstance(one, str):
        if one not in RECIPES:
            known = ", ".join(map(repr, RECIPES))
            raise ValueError(
                f"Unknown member {one!r}: use one of {known}, or a pair (name, classifier)."
            )
        return one
    if not isinstance(one, tuple) or len(one) != 2 or not isinstance(one[0], str):
        raise TypeError(f"A member must be a name or a pair (name, classifier), got {one!r}.")
    name, estimator = one
    if "__" in name:
        raise ValueError(f"The name of a member must not contain '__', got {name!r}.")
    if not is_estimator(estimator) or is_regressor(estimator):
        raise TypeError(f"Member {name!r} must be a classifier, got {estimator!r}.")
    return str(name)


def _candidate(one: Any) -> Candidate:
    if isinstance(one, str):
        return Candidate(one, RECIPES[one])
    return Candidate(one[0], None, one[1])


def order_candidates(candidates: list[Candidate], form: Form, by_gain: bool) -> list[Candidate]:
    """Return the candidates in the order in which they are fitted.

    The linear model comes first, because it is what remains if time is short.

    Parameters
    ----------
    candidates : list of Candidate
        The candidates.
    form : Form
        The form of the data.
    by_gain : bool
        Whether the others are ordered by expected gain per second, or stay as they are.
    """

    def rank(candidate: Candidate) -> float:
        if candidate.name == "linear" and candidate.recipe is not None:
            return -math.inf
        predicted = candidate.predicted(form)
        if not by_gain or predicted is None or candidate.recipe is None:
            return 0.0
        return -candidate.recipe.gain / max(predicted, 1e-6)

    return sorted(candidates, key=rank)


def split_stages(candidates: list[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Return the candidates that read the samples, and those that read their blend."""
    second = [c for c in candidates if c.recipe is not None and c.recipe.second]
    first = [c for c in candidates if c.recipe is None or not c.recipe.second]
    if not first:
        names = " and ".join(repr(c.name) for c in second)
        verb = "reads" if len(second) == 1 else "read"
        raise ValueError(f"{names} {verb} the probabilities of other members: add at least one.")
    return first, second


# Held-out scores


@dataclass(frozen=True)
class Member:
    """A fitted member and its held-out scores.

    Attributes
    ----------
    estimator : classifier
        The classifier, fitted to all samples.
    scores : (n, m) array
        The held-out scores; NaN where there are none.
    note : str
        What the leaderboard says about it.
    """

    estimator: Any
    scores: Floats
    note: str = ""


def fit_member(candidate: Candidate, task: BlendTask) -> Member:
    """Fit a candidate, and return it with its held-out scores.

    If the task has a time limit, trees are grown one after the other as long as there is time, and
    other members that may not be ready in time are fitted in another process.
    """
    estimator = None if candidate.recipe is None else candidate.recipe.make(task)
    bounded = isinstance(estimator, LabelForest) and task.exchangeable
    if bounded or task.budget.is_sure(candidate.predicted(task.form)):
        return _fit_here(candidate, estimator, task)
    params = task.params(candidate.name) if estimator is None else {}
    left = task.budget.left()
    budget = Budget(left / (1 - RESERVE))
    alone = replace(task, params=FixedParams(params), budget=budget, apart=Apart())
    try:
        return task.apart.call(_fit_here, (candidate, estimator, alone), left)
    except CannotTravelError:
        return _fit_here(candidate, estimator, task)


def fit_linear(task: BlendTask) -> Member:
    """Fit the linear model, which is never interrupted: it is what remains if time is short."""
    return _fit_own(_linear(task), task)


@dataclass(frozen=True)
class FixedParams:
    """The keyword arguments of ``fit`` of the only member of a task.

    Attributes
    ----------
    params : dict of str to object
        The arguments.
    """

    params: dict[str, Any]

    def __call__(self, name: str) -> dict[str, Any]:  # noqa: ARG002  there is one
        """Return the arguments."""
        return self.params


def _fit_here(candidate: Candidate, estimator: Any, task: BlendTask) -> Member:
    """Fit a member of the library, or the classifier of the user if it is None."""
    return _fit_given(candidate, task) if estimator is None else _fit_own(estimator, task)


def _fit_own(estimator: Any, task: BlendTask) -> Member:
    """Fit a member of the library. Those that read one matrix get all tables side by side."""
    X = task.X if reads_views(estimator) else task.matrix
    if X is None:
        raise ValueError("X has tables with missing rows, which only KGHA ('views') accepts.")
    weighted = {}
    if task.weights is not None and has_fit_parameter(estimator, "sample_weight"):
        weighted = {"sample_weight": task.weights}
    honest = hasattr(estimator, "cv") or task.exchangeable
    forest = isinstance(estimator, LabelForest)
    if forest and honest and task.budget.seconds is not None:
        estimator._go_on = task.budget.share(GROWING)
    if honest and (isinstance(estimator, OwnMember) or _is_tuned(estimator)):
        estimator.fit(X, task.y, **weighted)
        if hasattr(estimator, "cv"):
            estimator.cv = len(task.folds)  # a model file need not hold the folds
        grown = len(estimator.trees_.roots) if forest else 0
        note = f"{grown} trees, time was short" if forest and grown < estimator.n_trees else ""
        return Member(estimator, np.asarray(estimator.oof_scores_), note)
    return _cross_validate(estimator, X, task, weighted)


def _is_tuned(estimator: Any) -> bool:
    """Return True for a linear model that has held-out scores of its own."""
    return isinstance(estimator, BaseSharedSubspace) and hasattr(estimator, "cv")


def reads_views(estimator: Any) -> bool:
    """Return True if a member of the library reads several tables."""
    return isinstance(estimator, KGHA)


def _fit_given(candidate: Candidate, task: BlendTask) -> Member:
    """Fit a classifier of the user by cross-validation."""
    estimator = clone(candidate.estimator)
    if task.observed is not None and _needs_matrix(estimator):
        raise ValueError("it accepts label matrices only, and none with missing labels (NaN)")
    if task.codec.multilabel and not _takes_matrix(estimator, task):
        estimator = EachLabel(estimator, n_jobs=task.n_jobs)
    params, note = task.params(candidate.name), ""
    if task.weights is not None and "sample_weight" not in params:
        note = "fitted without sample weights, which it does not accept"
    X = task.passed if reads_tables(candidate.estimator) else task.given
    return _cross_validate(estimator, X, task, params, note)


def _takes_matrix(estimator: Any, task: BlendTask) -> bool:
    """Return True if a classifier can be fitted to the label matrix of the task as it is."""
    if task.observed is not None:
        return isinstance(estimator, (BaseSharedSubspace, EachLabel))
    if isinstance(estimator, ScoreClassifier):
        return True
    return _needs_matrix(estimator) or bool(get_tags(estimator).classifier_tags.multi_label)


def _needs_matrix(estimator: Any) -> bool:
    """Return True for ClassifierChain and others that cannot be fitted to a single label."""
    return not get_tags(estimator).target_tags.single_output


def _cross_validate(
    estimator: Any, X: Any, task: BlendTask, params: dict[str, Any], note: str = ""
) -> Member:
    """Fit a classifier without each fold, and to all samples; stop if time is too short."""
    target, config, started = task.y, get_config(), task.budget.clock()
    found = Parallel(n_jobs=task.n_jobs, return_as="generator")(
        delayed(_score_fold)(clone(estimator), X, target, params, fold, task.codec, config)
        for fold in task.folds
    )
    scores = np.full(task.Y.shape, np.nan)
    for done, ((_, test), part) in enumerate(zip(task.folds, found, strict=True), start=1):
        scores[test] = part
        task.budget.check(started, done, len(task.folds) + 1)
    return Member(clone(estimator).fit(X, target, **params), scores, note)


def _score_fold(
    estimator: Any,
    X: Any,
    y: Any,
    params: dict[str, Any],
    fold: tuple[Ints, Ints],
    codec: LabelCodec,
    config: dict[str, Any],
) -> Floats:
    """Return the scores of the test part of a fold; the final fit issues the warnings."""
    train, test = fold
    with config_context(**config), ignored(UserWarning):
        some = take_rows(X, params, train)
        estimator.fit(*take_samples(estimator, X, y, train), **some)
        return read_scores(estimator, take_samples(estimator, X, None, test, train)[0], codec)


def read_scores(estimator: Any, X: Any, codec: LabelCodec) -> Floats:
    """Return the scores (n, m) of a fitted member, ``2 p - 1`` if it has only probabilities p.

    The scores of classes that the member has not seen are NaN.
    """
    m = len(codec.classes)
    method = score_method(estimator)
    if codec.multilabel:
        found = np.asarray(scores_matrix(estimator, X, m), dtype=float)
        return 2.0 * found - 1.0 if method == "predict_proba" else found
    response = np.asarray(getattr(estimator, method)(X), dtype=float)
    seen = np.asarray(estimator.classes_)
    if method == "predict_proba":
        response = 2.0 * response - 1.0
        if len(seen) == 2:
            response = response[:, 1]
    if isinstance(estimator, OwnMember) or len(seen) == m:
        return response.reshape(len(response), -1)
    return class_scores(response, seen, codec.classes)
