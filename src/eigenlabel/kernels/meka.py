"""MEKA: explicit features for a kernel whose matrix does not fit in memory."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import COUNT, CheckedBy, Maybe, Parameters, check_parameters
from eigenlabel.inputs.validation import check_data
from eigenlabel.kernels.kernel import KERNEL_PARAMETERS, Kernel, kernel_tags
from eigenlabel.linalg.euclidean import EuclideanDistances, distance_rounding
from eigenlabel.linalg.lowrank import meka
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import nearest

SQUARES_FIT = 1e15  # float32 values up to which sums of their squares stay in range


def _closest(X: Any, centres: np.ndarray) -> np.ndarray:
    """Return the closest centre of each sample, the first one of those equal up to rounding."""
    parts = row_blocks(X.shape[0], len(centres) + X.shape[1])
    distances = EuclideanDistances(centres)
    found = [nearest(distances(X[rows]), 1, distance_rounding(X[rows])) for rows in parts]
    return np.concatenate(found)[:, 0]


class MEKA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Map samples to features whose inner products approximate a kernel, block by block.

        K ~ Q S Q' = Z Z'      (Si, Hsieh, Dhillon, ICML 2014; Eq. 32 of the KGHA paper)

    k-means splits the samples into blocks. Q is block diagonal: each block has a Nystrom basis of
    its own, with landmarks drawn from it. S links the blocks by regression on entries sampled
    where the basis weighs most; its negative eigenvalues, which the sampling leaves, are cut off.
    With ``n_blocks=1`` this is the Nystrom method. Every linear method behind the map becomes a
    kernel method for sizes at which the kernel matrix cannot be stored, in a pipeline:
    ``make_pipeline(MEKA(), SharedSubspaceClassifierCV())``, ``make_pipeline(MEKA(), MDDM())``.

    Cost: linear in n. n l kernel values and n l^2 operations with l = n_landmarks / n_blocks,
    against n_landmarks for Nystrom, and n_components^3. Sparse X stays sparse; the map is dense,
    (n, n_components).

    Parameters
    ----------
    n_components : int >= 1, default=500
        Features, over all blocks; the strongest basis vectors of all of them are kept.
    n_blocks : int >= 1, default=10
        Clusters of samples. More of them are faster and less exact.
    n_landmarks : int >= 1 or None
        Samples that the bases are built on, over all blocks; None is twice ``n_components``.
    kernel, gamma, degree, coef0, kernel_params
        As in :class:`SharedSubspaceClassifier`, "rbf" by default; not "precomputed". Of a kernel
        that is not positive semi-definite the positive part is used.
    random_state : int, RandomState or None
        Draws landmarks and entries, starts k-means.

    Attributes
    ----------
    n_components_ : int
        Features that are there: at most ``n_components``, and the samples' rank in the kernel,
        that is the eigenvalues above 2e-10 of the largest.
    error_ : float
        Estimate of ``|K - Z Z'| / |K|`` (Frobenius norm) from 500 x 500 random entries of training
        samples. New samples are compared with their own block's landmarks alone: with several
        blocks their kernel values are approximate even where this is zero.
    clipped_ : float
        The part of S, by its Frobenius norm, that was negative and is left out.
    nbytes_ : int
        Bytes of Q and S, which products with K need; the kernel matrix has 8 n^2.
    centres_ : (n_blocks_, n_features), of the blocks; a new sample belongs to the nearest one
    landmarks_ : list of (l, n_features), of each block
    maps_ : list of (l, n_components_): ``z(x) = k(x, landmarks) map``
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from eigenlabel import MEKA, SharedSubspaceClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=400, n_labels=6, random_state=0)
    >>> map = MEKA(200, n_blocks=3, gamma=0.005, random_state=0)
    >>> model = make_pipeline(map, SharedSubspaceClassifier()).fit(data.X, data.Y)
    >>> model.predict(data.X[:5]).shape, bool(map.error_ < 0.01)
    ((5, 6), True)
    """

    _parameters: ClassVar[Parameters] = {
        "n_components": COUNT,
        "n_blocks": COUNT,
        "n_landmarks": Maybe(COUNT),
        **KERNEL_PARAMETERS,
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
    }

    def __init__(
        self,
        n_components: int = 500,
        *,
        n_blocks: int = 10,
        n_landmarks: int | None = None,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "MEKA":  # noqa: ARG002
        """Choose blocks and landmarks among samples X (n, d), dense or sparse, and link them."""
        check_parameters(self)
        kernel = self._make_kernel()
        X = check_data(self, X, reset=True)
        self._kernel = kernel.settle(X)
        state = check_random_state(self.random_state)
        rng = np.random.default_rng(state.randint(2**31))
        n_landmarks = 2 * self.n_components if self.n_landmarks is None else self.n_landmarks
        centres = self._cluster(X, state)
        cluster = _closest(X, centres)
        factor = meka(self._exact_kernel, X, cluster, n_landmarks, self.n_components, rng)
        if not factor.values.size:
            raise ValueError(
                f"kernel={self.kernel!r} has no positive part on the training data: nothing to map."
                " Rescale X if its values are small."
            )
        self.centres_ = centres[[cluster[block.rows[0]] for block in factor.blocks]]
        self.landmarks_ = [block.landmarks for block in factor.blocks]
        self.maps_ = factor.maps()
        self.n_components_ = len(factor.values)
        self.error_ = factor.error(X, rng)
        self.clipped_, self.nbytes_ = factor.clipped, factor.nbytes
        return self

    def _exact_kernel(self, X: Any, Z: Any, where: str = "the training data") -> np.ndarray:
        """Return kernel values in float64: the map divides by roots of small eigenvalues."""
        return self._kernel.values(X.astype(float, copy=False), Z.astype(float, copy=False), where)

    def _make_kernel(self) -> Kernel:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' is a matrix that fits in memory: use it without MEKA, or "
                "pass the kernel as a callable of two matrices."
            )
        return Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)

    def _cluster(self, X: Any, state: np.random.RandomState) -> np.ndarray:
        """Return the centres of the blocks; a block without samples has none."""
        n_blocks = min(self.n_blocks, X.shape[0])
        if n_blocks == 1:
            return np.zeros((1, X.shape[1]), dtype=X.dtype)
        means = MiniBatchKMeans(n_blocks, n_init=1, random_state=state)
        if X.dtype == np.float32 and abs(X).max() > SQUARES_FIT:
            X = X.astype(float)
        return means.fit(X).cluster_centers_

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> np.ndarray:
        """Give features (n_samples, n_components_), the strongest first."""
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        out = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        for part in row_blocks(X.shape[0], max(map(len, self.maps_))):
            out[part] = self._features(X[part])
        return out

    def _features(self, X: Any) -> np.ndarray:
        cluster = _closest(X, self.centres_)
        out = np.empty((X.shape[0], self.n_components_))
        for c in np.unique(cluster):
            here = cluster == c
            K = self._exact_kernel(X[here], self.landmarks_[c], "these samples")
            out[here] = K @ self.maps_[c]
        return out

    def __sklearn_tags__(self) -> Any:
        tags = kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
