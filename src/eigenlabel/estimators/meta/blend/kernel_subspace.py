"""Shared-subspace least squares with a kernel whose bandwidth is chosen on some of the samples."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler, normalize
from sklearn.utils import check_random_state

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.meta.blend.base import OwnMember
from eigenlabel.estimators.subspace.many_labels import MANY
from eigenlabel.estimators.subspace.tuned import SharedSubspaceClassifierCV
from eigenlabel.inputs.fitting import plain_arrays
from eigenlabel.inputs.parameters import COUNT, CheckedBy, Choice, Parameters
from eigenlabel.inputs.warning import ignored
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.kernels.meka import MEKA
from eigenlabel.labels.checks import blank
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.machine import exact_memory, memory_limit
from eigenlabel.metrics import log_loss
from eigenlabel.thresholds import held_out_probabilities
from eigenlabel.thresholds.calibration import fit_probabilities

SPREAD = (
    4.0  # the bandwidths that are compared: the rule of the kernel, and this times less or more
)
ALPHAS, BETAS = (np.inf, 1e-2), (1e-4, 1e-3, 1e-2, 1e-1)  # while bandwidths are compared
MOST_EXACT = 4000  # samples up to which the kernel matrix is used, with n^3 operations per fold
MEKA_FEATURES = 1000
# The smaller side of a sparse X up to which linear models are exact, with p^3 operations per fold;
# above, residuals are at most this share of the right sides.
MOST_EXACT_SIDE, TOLERANCE = 8000, 1e-3
MANY_LABELS = 300  # labels above which members do without a shared subspace
MOST_LABELS = MANY - 1  # labels up to which penalties are tuned


def tuned_subspace(m: int, **parameters: Any) -> SharedSubspaceClassifierCV:
    """Return the tuned model of m labels without calibration; of many labels, ridge regression.

    The eigenproblems of the shared subspace take m^3 operations for each fold and grid point.
    """
    if m > MANY_LABELS:
        parameters["alphas"] = [0.0]
    return SharedSubspaceClassifierCV(calibration=None, **parameters)


def tuned_linear(n: int, d: int, m: int, sparse: bool, cv: Any) -> SharedSubspaceClassifierCV:
    """Return the tuned linear model of m labels of n x d samples.

    An exact solution takes p^3 operations for each fold, p being the smaller side.
    """
    if by_products(n, d, sparse):
        return tuned_subspace(m, cv=cv, solver="krylov", tol=TOLERANCE)
    return tuned_subspace(m, cv=cv)


def by_products(n: int, d: int, sparse: bool) -> bool:
    """Return True if conjugate gradients take less time than an exact solution."""
    return sparse and min(n, d) > MOST_EXACT_SIDE


class KernelSubspace(OwnMember):
    """Tune shared-subspace least squares with a kernel, at about the cost of one bandwidth.

    Columns of a dense X are scaled to unit variance, rows of a sparse X to unit length. Three
    bandwidths are compared on some samples, and the best one is tuned on all of them. From 4,000
    samples on, or if the kernel matrix does not fit in memory, the kernel is replaced by features
    (MEKA), which no label is used for.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}, default="rbf"
        The kernel.
    n_compared : int, default=600
        The number of samples that bandwidths are compared on.
    cv : int or list of (train, test), default=5
        The folds.
    random_state : int, RandomState instance or None, default=None
        Determines these samples, and the features of MEKA.

    Attributes
    ----------
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The held-out scores.
    gamma_ : float
        The bandwidth.
    pipeline_ : Pipeline
        The fitted steps: a scaler, possibly MEKA, and SharedSubspaceClassifierCV.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has string names.
    """

    _parameters: ClassVar[Parameters] = {
        "kernel": Choice("rbf", "laplacian"),
        "n_compared": COUNT,
        "cv": CheckedBy("SharedSubspaceClassifierCV"),
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
    }

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        n_compared: int = 600,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_compared = n_compared
        self.cv = cv
        self.random_state = random_state

    def _fit(self, data: Training) -> None:
        with plain_arrays():
            self._fit_steps(data)

    def _fit_steps(self, data: Training) -> None:
        rng, m = check_random_state(self.random_state), data.Y.shape[1]
        scaler = Normalizer() if sp.issparse(data.X) else StandardScaler()
        weighted = {} if sp.issparse(data.X) else {"sample_weight": data.weights}
        # Quotients of float32 values may leave their range.
        X = data.X.astype(float)
        Z = scaler.fit(X, **weighted).transform(X)
        target = _target(data)
        rule: Any = Kernel(self.kernel).settle(Z, data.weights).gamma
        rows = rng.permutation(len(data.Y))[: self.n_compared]
        self.gamma_ = self._compare(Z, data, rows, float(rule))
        steps: list[tuple[str, Any]] = [("scaler", scaler)]
        if needs_features(len(data.Y)):
            meka = MEKA(
                min(MEKA_FEATURES, len(data.Y)),
                kernel=self.kernel,
                gamma=self.gamma_,
                random_state=rng.randint(2**31),
            )
            Z = meka.fit_transform(Z)
            steps.append(("meka", meka))
            model = tuned_subspace(m, cv=self.cv)
        else:
            model = tuned_subspace(m, kernel=self.kernel, gamma=self.gamma_, cv=self.cv)
        model.fit(Z, target, sample_weight=data.weights)
        self.oof_scores_ = model.oof_scores_
        self.pipeline_ = Pipeline([*steps, ("model", model)])

    def _compare(self, Z: Matrix, data: Training, rows: Ints, rule: float) -> float:
        """Return the bandwidth with the lowest held-out log-loss on some samples.

        The log-loss follows the bandwidth smoothly; F1 or average precision of few samples do not.
        Samples that belong together are held out together. If the samples are too few, such as
        fewer than folds, the bandwidth is that of the rule.
        """
        target, Y = _target(data)[rows], data.Y[rows]
        w = None if data.weights is None else data.weights[rows]
        truth = blank(Y, None if data.observed is None else data.observed[rows])
        folds = _folds_of(rows, self._folds(data))
        losses = {}
        for gamma in (rule, rule / SPREAD, rule * SPREAD):
            model = tuned_subspace(
                Y.shape[1], alphas=ALPHAS, betas=BETAS, kernel=self.kernel, gamma=gamma, cv=folds
            )
            try:
                with ignored(UserWarning):
                    scores = model.fit(Z[rows], target, sample_weight=w).oof_scores_
                losses[gamma] = heldout_loss(data.codec, scores, truth, w)
            except ValueError:
                return rule
        return min(losses, key=lambda gamma: losses[gamma])

    def _scores(self, X: Any) -> Floats:
        with plain_arrays():
            Z = self.pipeline_[:-1].transform(X.astype(float))
        return np.asarray(self.pipeline_[-1]._scores(Z))


def _folds_of(rows: Ints, folds: list[tuple[Ints, Ints]]) -> list[tuple[Ints, Ints]]:
    """Return the folds of some samples, whose numbers are their positions among these rows."""
    position = {row: k for k, row in enumerate(rows.tolist())}
    parts = (
        tuple(
            np.array([position[i] for i in part.tolist() if i in position], dtype=np.intp)
            for part in fold
        )
        for fold in folds
    )
    return [(train, test) for train, test in parts if len(test)]


def heldout_loss(codec: LabelCodec, scores: Floats, truth: Any, weights: Floats | None) -> float:
    """Return the log-loss of held-out scores (n, m), calibrated on other samples.

    Parameters
    ----------
    codec : LabelCodec
        The form of y.
    scores : (n, m) array
        The held-out scores.
    truth : (n, m) array
        The labels, with NaN where a label is not observed.
    weights : (n,) array or None
        The sample weights.
    """
    if scores.shape != truth.shape:  # some samples lack a class
        raise ValueError(f"scores have shape {scores.shape}, the label matrix {truth.shape}.")
    if codec.multilabel:
        P = held_out_probabilities(scores, truth, weights, method="sigmoid")
    else:
        maps = fit_probabilities(codec, scores, truth, weights, method="sigmoid")
        P = maps.probabilities(scores)
    known = ~np.isnan(P).any(axis=1)
    w = None if weights is None else weights[known]
    return log_loss(truth[known], P[known], sample_weight=w)


def needs_features(n: int) -> bool:
    """Return True if the kernel matrix of n samples is too large, and MEKA replaces it."""
    return n > MOST_EXACT or exact_memory(n, 9) > memory_limit()


def _target(data: Training) -> Any:
    """Return y as a label matrix with NaN, or as the positions of the classes of a vector."""
    if data.codec.multilabel:
        return blank(data.Y, data.observed)
    if data.Y.shape[1] == 1:
        return data.Y[:, 0].astype(int)
    return np.argmax(data.Y, axis=1)


class Presence(OwnMember):
    """Tune linear shared-subspace least squares on which features a sample has, not how much.

    Rows of zeros and ones are scaled to unit length. It errs in other places than a model of
    weighted counts.

    Parameters
    ----------
    cv : int or list of (train, test), default=5
        The folds.

    Attributes
    ----------
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The held-out scores.
    model_ : SharedSubspaceClassifierCV
        The fitted model.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has string names.
    """

    _parameters: ClassVar[Parameters] = {"cv": CheckedBy("SharedSubspaceClassifierCV")}

    def __init__(self, *, cv: Any = 5) -> None:
        self.cv = cv

    def _fit(self, data: Training) -> None:
        (n, d), m = data.X.shape, data.Y.shape[1]
        self.model_ = tuned_linear(n, d, m, bool(sp.issparse(data.X)), self.cv)
        self.model_.fit(_presence(data.X), _target(data), sample_weight=data.weights)
        self.oof_scores_ = self.model_.oof_scores_

    def _scores(self, X: Any) -> Floats:
        return np.asarray(self.model_._scores(_presence(X)))


def _presence(X: Matrix) -> Matrix:
    """Return 1 for each value that is not zero, in rows of unit length."""
    return normalize((X != 0).astype(float))
