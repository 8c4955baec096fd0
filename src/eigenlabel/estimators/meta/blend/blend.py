"""MultilabelBlend: models that err differently, calibrated and averaged by held-out log-loss."""

import numbers
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter

from eigenlabel.estimators.base import CALIBRATION, RuleClassifier, Training, check_training
from eigenlabel.estimators.meta.blend.blending import (
    added_by,
    blend_logits,
    log_odds,
    recalibrate,
)
from eigenlabel.estimators.meta.blend.budget import Budget
from eigenlabel.estimators.meta.blend.fitting_members import (
    check_size,
    fit_candidates,
    fit_second,
)
from eigenlabel.estimators.meta.blend.leaderboard import Leaderboard
from eigenlabel.estimators.meta.blend.leaderboard_rows import HeldOutJudge, rank_members
from eigenlabel.estimators.meta.blend.members import (
    check_members,
    list_candidates,
    order_candidates,
    read_scores,
    reads_views,
    split_stages,
)
from eigenlabel.estimators.meta.blend.named_members import NamedMembers
from eigenlabel.estimators.meta.blend.preparing import (
    check_complete,
    prepare,
    reads_tables,
)
from eigenlabel.estimators.meta.blend.stages import Stages, blend_stages, read_stages
from eigenlabel.estimators.meta.blend.task import (
    BlendTask,
    as_counts,
    join_views,
    without_empty_classes,
)
from eigenlabel.inputs.data import check_data
from eigenlabel.inputs.fitting import all_or_nothing, plain_arrays
from eigenlabel.inputs.parameters import (
    POSITIVE,
    CheckedBy,
    Choice,
    Instance,
    Jobs,
    Maybe,
    Parameters,
    WordOr,
    check_number,
    check_parameters,
)
from eigenlabel.inputs.sample_weights import check_weights
from eigenlabel.inputs.sklearn_private import (
    parallel_block,
    routing_enabled,
    take_rows,
    take_samples,
)
from eigenlabel.inputs.views import Layout, Views, indexable, is_several, layout_of
from eigenlabel.labels.checks import blank, check_observed
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.heldout import training_rows
from eigenlabel.model_selection.routing import NO_GROUPS, make_router
from eigenlabel.model_selection.search import store_calibration
from eigenlabel.model_selection.splits import list_folds
from eigenlabel.preprocessing.table_preparation import TablePreparation
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.calibration import Calibration
from eigenlabel.thresholds.rules import check_readable, get_rule, top_labels, top_matrix

Params = Callable[[str], dict[str, Any]]


class MultilabelBlend(NamedMembers, MetaEstimatorMixin, RuleClassifier):  # type: ignore[misc]
    """Blend models that err differently, by the log-loss of their held-out probabilities.

    Every member is calibrated on held-out scores. With the log-odds z_k of member k, the blend has

        logit p = b + sum_k w_k z_k,   w >= 0,

    where b and w minimise the log-loss over all samples and labels that were held out, a convex
    problem of a few variables. Members with small weights are dropped, and so are members that read
    the blend of the others but hardly lower its log-loss. The thresholds of label sets
    are fitted to the blended held-out log-odds. The default members depend on the form of X:

    ============  =======================================================  ==================
    member        model                                                    default for
    ============  =======================================================  ==================
    "linear"      SharedSubspaceClassifierCV                               tables and sparse X
    "laplacian"   the same with a Laplacian kernel                         tables
    "forest"      randomised trees, out-of-bag scores                      tables and sparse X
    "neighbours"  weighted shares of the nearest samples                   tables and sparse X
    "words"       multinomial naive Bayes                                  sparse X >= 0
    "presence"    the linear model of features that are not zero           sparse X >= 0
    "views"       KGHA; other members read all tables side by side         several tables
    "gaussian"    the linear model with a Gaussian kernel                  -
    "margin"      LinearSVC, one for each label                            -
    "labels"      trees on the blended probabilities of all labels         label matrices
    "sets"        these probabilities, corrected by label sets that occur  label matrices
    ============  =======================================================  ==================

    The members "labels" and "sets" come last and see the held-out probabilities that the others
    have for all labels of a sample, so that they learn which labels go together.

    Held-out scores of the library's own members cost no more fits: they are exact, out of the bag,
    or by fold. Other classifiers are fitted once for each fold, and once to all samples.

    Parameters
    ----------
    members : "auto", "all" or list, default="auto"
        The members: names of the table, and pairs (name, classifier) of any classifier with
        ``decision_function`` or ``predict_proba``. A classifier that accepts no label matrix is
        fitted to each label. "auto" are the default members, "all" are all names of the table that
        suit the form of X. A member that fails is left out, with a warning, and the leaderboard
        states the reason.
    prepare : {"auto", "none"} or TablePreparation, default="auto"
        Whether X is prepared by :class:`eigenlabel.preprocessing.TablePreparation` where members
        need it, see the notes. "none" passes X to the members as it is. A TablePreparation always
        prepares X, and chooses kinds of columns, such as
        ``TablePreparation(columns={"zip": "category", "note": "drop"})``.
    weights : {"by_label", "shared", "equal"}, default="by_label"
        The weights of members: for each label, drawn to those that all labels share; the same for
        all labels; or equal ones. More than 1,000 labels, and the classes of a vector, always share
        their weights.
    time_budget : float or None, default=None
        The number of seconds that ``fit`` may take. Members are fitted in the order of expected
        gain per second, and left out if they are not expected to be ready in time. Trees are grown
        as long as there is time. A member whose prediction leaves doubt, such as any classifier of
        the user, is fitted in another process, which is ended when its time is over; one that
        cannot be pickled is not interrupted. The linear model is always fitted, with a warning if
        it alone takes longer. None is no limit.
    threshold : str or rule, default="mixed"
        How scores become label sets: "zero", "f1", "fbr", "global", "top", "proportional",
        "mixed", or a rule of ``eigenlabel.thresholds``. Thresholds apply to label matrices; a
        vector y is decided by the highest score.
    cv : int, splitter or iterable of (train, test), default=5
        The folds of held-out scores. An int is the number of folds of a
        MultilabelStratifiedKFold. With ``groups``, or folds of another kind, the trees and the
        label sets are cross-validated too, because samples that belong together may be in and out
        of a bag.
    n_jobs : int or None, default=None
        The number of trees, folds or labels that are fitted in parallel.
    random_state : int, RandomState instance or None, default=None
        Determines the trees, and the samples on which bandwidths are compared.
    verbose : int, default=0
        The verbosity. 0 is silent; 1 shows a line for each member and the progress on stderr.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        How scores become probabilities, see :func:`eigenlabel.thresholds.fit_calibration`. The
        blended log-odds are recalibrated if that lowers their held-out log-loss. None leaves out
        ``predict_proba``; members are calibrated as for "auto".

    Attributes
    ----------
    members_ : dict of str to classifier
        The members of the blend, fitted to all samples.
    weights_ : ndarray of shape (n_members,) or (n_labels, n_members)
        Their weights, of all labels or of each label.
    intercept_ : float or ndarray of shape (n_labels,)
        The intercept b.
    member_calibrations_ : dict of str to Calibration
        The calibrations of the members.
    preparation_ : TablePreparation
        The preparation of X. Only if X was prepared.
    leaderboard_ : Leaderboard
        The held-out figures and the seconds of the blend and of every member, also of those that
        were dropped, failed, or were not fitted, with the reason, and what each member adds: the
        rise of the blend's log-loss without it. It prints as a table;
        ``leaderboard_.to_frame()`` is a data frame.
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The blended held-out log-odds; NaN for samples of weight zero or in no test part.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds of the log-odds. Only for a label matrix.
    calibration_ : Calibration
        The map from blended log-odds to probabilities. Only if ``calibration`` is not None.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features, of all views together.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features. Only if X is a frame; if it was not prepared, only if its column
        names are strings.

    Notes
    -----
    These forms of X are prepared by :class:`eigenlabel.preprocessing.TablePreparation`: texts;
    frames, unless they are complete numbers most of which are zero; arrays with words or missing
    values; arrays with a column of more than ten times the median spread, unless most numbers are
    zero; and sparse counts of words. Classifiers of the user get the prepared features, but
    pipelines get X as it is.

    Labels that are not observed (NaN in a label matrix) count neither in members nor in weights,
    thresholds or figures; classifiers of the user that do not know missing labels are fitted to
    each label. The figures of the blend in the leaderboard use the samples that its few weights
    were fitted to, and are optimistic by that much.

    Examples
    --------
    >>> from eigenlabel import MultilabelBlend
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = MultilabelBlend(["linear", "neighbours"], random_state=0).fit(data.X, data.Y)
    >>> model.predict(data.X).shape, model.predict_proba(data.X).shape
    ((200, 6), (200, 6))
    >>> [row["name"] for row in model.leaderboard_][0]
    'blend'
    """

    _parameters: ClassVar[Parameters] = {
        "members": CheckedBy("check_members"),
        "prepare": WordOr(("auto", "none"), Instance(TablePreparation)),
        "weights": Choice("shared", "by_label", "equal"),
        "time_budget": Maybe(POSITIVE),
        "threshold": CheckedBy("get_rule"),
        "cv": CheckedBy("list_folds"),
        "n_jobs": Jobs(),
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
        "verbose": CheckedBy("the progress bar"),
        "calibration": CALIBRATION,
    }
    __metadata_request__fit = NO_GROUPS

    def __init__(
        self,
        members: Any = "auto",
        *,
        prepare: Any = "auto",
        weights: str = "by_label",
        time_budget: float | None = None,
        threshold: str | Rule = "mixed",
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        calibration: str | None = "auto",
    ) -> None:
        self.members = members
        self.prepare = prepare
        self.weights = weights
        self.time_budget = time_budget
        self.threshold = threshold
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.calibration = calibration

    def _sk_visual_block_(self) -> Any:
        """Return the members side by side, for the page that a notebook shows."""
        shown = dict(getattr(self, "members_", {}))
        if not shown:
            named = self.members if isinstance(self.members, (list, tuple)) else [self.members]
            shown = {str(one): str(one) for one in named if not isinstance(one, tuple)}
            shown.update(self._pairs())
        return parallel_block(list(shown), list(shown.values()))

    def get_metadata_routing(self) -> Any:
        """Return the requests of the blend itself, its splitter and its members.

        Returns
        -------
        routing : MetadataRouter
            The requests.
        """
        return make_router(self, self.cv, **dict(self._pairs()))

    def _route(self, given: dict[str, Any]) -> tuple[dict[str, Any], Params]:
        """Return the metadata of the splitter, and of the classifiers of the user by name."""
        given = {name: value for name, value in given.items() if value is not None}
        pairs = dict(self._pairs())
        if routing_enabled():
            routed = process_routing(self, "fit", **given)
            return dict(routed.splitter.split), lambda name: dict(routed[name].fit)
        unknown = sorted(set(given) - {"sample_weight", "groups"})
        if unknown:
            raise TypeError(
                f"MultilabelBlend.fit() takes no {unknown[0]!r}. Other metadata needs "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        weighted = {name: given[name] for name in ("sample_weight",) if name in given}
        split = {name: given[name] for name in ("groups",) if name in given}
        return (
            split,
            lambda name: weighted if has_fit_parameter(pairs[name], "sample_weight") else {},
        )

    # Fitting

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any
    ) -> "MultilabelBlend":
        """Fit the members, their weights, and the thresholds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), frame, texts or Views
            The samples, or several tables of them. A list of strings is texts.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            A 0/1 label matrix, or a vector of classes. NaN in a matrix marks a label that is not
            observed on a sample.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights, which count like numbers of copies: in members that accept them, in
            calibrations, weights, thresholds and figures. Samples of weight zero are left out.
        groups : array-like of shape (n_samples,), default=None
            The groups of the samples, which are passed to the splitter.
        **params : dict
            Metadata for the splitter and the members. They need scikit-learn's metadata routing.

        Returns
        -------
        self : MultilabelBlend
            The fitted blend.
        """
        check_parameters(self)
        check_members(self.members)
        self._check_names()
        rule, budget = get_rule(self.threshold), Budget(self.time_budget)
        check_size(getattr(y, "shape", ()))  # before a sparse y becomes dense
        split, routed = self._route({"sample_weight": sample_weight, "groups": groups, **params})
        passed, X = X, self._prepare(X, sample_weight)
        data = self._check_training(X, y, sample_weight)
        self._remember_columns()
        if data.codec.multilabel:
            check_readable(rule, self.calibration)
        task = self._make_task((passed, X), y, data, split, routed, budget)
        self._codec, self.classes_, self._rule = data.codec, data.codec.classes, rule
        automatic = isinstance(self.members, str)
        candidates = list_candidates(self.members, task.form)
        ordered = order_candidates(candidates, task.form, by_gain=automatic)
        method = self.calibration or "auto"
        judge = HeldOutJudge(task, rule)
        first, second = split_stages(ordered)
        with task.apart:
            entries = fit_candidates(first, task, method, self.verbose, judge.figures)
            fits = [partial(fit_second, one, task, method, judge.figures) for one in second]
            stages = blend_stages(entries, task, self.weights, fits, self.verbose)
        given = [c for c in candidates if c.recipe is None]
        self._given = [c.name for c in given]
        self._reads_tables = [c.name for c in given if reads_tables(c.estimator)]
        self._combine(stages, judge, method, data.used, len(data.Y))
        return self

    def _prepare(self, X: Any, sample_weight: Any) -> Any:
        """Return the features of samples that need preparation, and other samples as they are."""
        self.__dict__.pop("preparation_", None)
        made, features = prepare(X, sample_weight, self.prepare, self.verbose)
        if made is not None:
            self.preparation_ = made
        return features

    def _remember_columns(self) -> None:
        """Remember the columns that were passed, not those that were made of them."""
        if not hasattr(self, "preparation_"):
            return
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = self.preparation_.n_features_in_
        if hasattr(self.preparation_, "feature_names_in_"):
            self.feature_names_in_ = self.preparation_.feature_names_in_

    def _check_training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Return the checked data; several tables are checked by their members."""
        self._layout: Layout | None = None
        if not is_several(X):
            return without_empty_classes(check_training(self, X, y, sample_weight), y)
        views = Views(X)
        codec, Y, observed = LabelCodec.fit_observed(y)
        check_consistent_length(views, Y)
        weights = check_weights(sample_weight, Y)
        if observed is not None:
            check_observed(observed, weights)
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = views.shape[1]
        self._layout = layout_of(views)
        return Training(views, Y, codec, weights, observed)

    def _make_task(
        self,
        samples: tuple[Any, Any],
        y: Any,
        data: Training,
        split: dict[str, Any],
        routed: Params,
        budget: Budget,
    ) -> BlendTask:
        """Return the task of the samples that have positive weight, as passed and as prepared."""
        passed, X = samples
        used, n = data.used, len(data.Y)
        if len(used) < 2:
            raise ValueError(
                "a blend needs held-out scores, hence at least 2 samples with labels and positive "
                f"weight, got n_samples = {len(used)}."
            )
        folds = list_folds(self.cv, data.X, y, split, data.codec, used)
        given = indexable(X) if hasattr(X, "columns") or is_several(X) else data.X
        if data.codec.multilabel:
            target = blank(data.Y, data.observed)
            target = target.astype(int) if target.dtype == bool else target
        else:
            target = data.codec.decide(np.where(data.Y, 1.0, -1.0))
        every = len(used) == n

        def part(thing: Any) -> Any:
            return thing if every or thing is None else take_samples(self, thing, None, used)[0]

        return BlendTask(
            X=part(data.X),
            given=part(given),
            passed=part(given if passed is X else indexable(passed)),
            y=part(target),
            Y=part(data.Y),
            observed=part(data.observed),
            weights=as_counts(part(data.weights)),
            codec=data.codec,
            folds=[(training_rows(len(used), fold), fold[1]) for fold in folds],
            exchangeable=(self.cv is None or isinstance(self.cv, numbers.Integral)) and not split,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
            params=lambda name: take_rows(data.Y, routed(name), used),
            budget=budget,
        )

    def _combine(
        self, stages: Stages, judge: HeldOutJudge, method: str, used: Ints, n_samples: int
    ) -> None:
        """Fit calibration and thresholds to the blended held-out log-odds."""
        task, kept = judge.task, stages.kept
        self._points, self._first = stages.mixture.points, stages.first
        self._n_first = len(kept) - stages.n_second
        scores = blend_logits(self._points, [entry.logits for entry in kept])
        calibration, P = recalibrate(scores, task, method)
        self.members_ = {
            entry.name: entry.member.estimator for entry in kept if entry.member is not None
        }
        self.member_calibrations_: dict[str, Calibration] = {
            entry.name: entry.calibration for entry in kept
        }
        self.weights_ = self._points[..., 1:].copy()
        self.intercept_ = self._points[..., 0].copy()[()]
        self.oof_scores_ = np.full((n_samples, task.Y.shape[1]), np.nan)
        self.oof_scores_[used] = scores
        store_calibration(self, None if self.calibration is None else calibration)
        self.__dict__.pop("thresholds_", None)
        if task.codec.multilabel:
            self.thresholds_ = judge.thresholds(scores, P)
        added = added_by([entry.logits for entry in kept], task, self.weights)
        seconds = task.budget.clock() - task.budget.started
        figures = judge.figures(scores, P)
        self.leaderboard_: Leaderboard = rank_members(
            stages.entries, stages.mixture, added, figures, seconds
        )

    # Predictions

    def _member_log_odds(self, X: Any) -> Iterator[Floats]:
        """Yield the calibrated log-odds (n, m) of each member."""
        if self._first is None:
            return self._first_log_odds(X)
        second = [partial(self._log_odds, name) for name in list(self.members_)[self._n_first :]]
        return read_stages(self._first_log_odds(X), self._first, second)

    def _log_odds(self, name: str, X: Any) -> Floats:
        """Return the calibrated log-odds (n, m) of a member, given what it reads."""
        scores = read_scores(self.members_[name], X, self._codec)
        return log_odds(self.member_calibrations_[name].probabilities(scores))

    def _first_log_odds(self, X: Any) -> Iterator[Floats]:
        """Yield the calibrated log-odds (n, m) of each member that reads X."""
        passed = X
        if hasattr(self, "preparation_"):
            with plain_arrays():
                matrix = given = self.preparation_.transform(X)
        elif is_several(X):
            if self._layout is None:
                raise ValueError("X is several tables, but X in fit was one.")
            given = passed = self._layout.arrange(X)
            matrix = join_views(given)
        else:
            check_complete(X)
            matrix = check_data(self, X, reset=False)
            given = passed = indexable(X) if hasattr(X, "columns") else matrix
        for name in list(self.members_)[: self._n_first]:
            member = self.members_[name]
            part = given if name in self._given or reads_views(member) else matrix
            part = passed if name in self._reads_tables else part
            if part is None:
                raise ValueError(
                    f"Member {name!r} needs every row of every table, and X lacks some: pass all "
                    "of them, or fit a blend with members=['views']."
                )
            yield self._log_odds(name, part)

    def _scores(self, X: Any) -> Floats:
        total: Any = self._points[..., 0]
        for k, z in enumerate(self._member_log_odds(X), start=1):
            total = total + self._points[..., k] * z
        return np.asarray(total)

    def member_log_odds(self, X: Any) -> dict[str, Floats]:
        """Return the calibrated log-odds of each member, whose weighted sum is the blend.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), frame, texts or Views
            The samples.

        Returns
        -------
        log_odds : dict of str to ndarray of shape (n_samples, n_labels)
            The log-odds. A vector of two classes has one column.
        """
        check_is_fitted(self)
        return dict(zip(self.members_, self._member_log_odds(X), strict=True))

    def predict_top(self, X: Any, n_labels: int = 5) -> sp.csr_array:
        """Predict the labels with the highest probabilities of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), frame, texts or Views
            The samples.
        n_labels : int, default=5
            The number of labels of each sample; all of them if there are fewer.

        Returns
        -------
        labels : sparse array of shape (n_samples, n_labels_of_y)
            A 0/1 matrix of int64. Of equal values the first label wins.
        """
        check_number("n_labels", n_labels, 1, integer=True)
        check_is_fitted(self)
        if self._codec.kind == "binary":
            raise ValueError("One score decides between two classes: there is nothing to rank.")
        values = self._scores(X)
        if hasattr(self, "calibration_"):
            values = self._codec.shape_probabilities(self.calibration_.probabilities(values))
        return top_matrix(top_labels(values, int(n_labels)), len(self.classes_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not isinstance(self.prepare, str) or self.prepare != "none"
        return tags
