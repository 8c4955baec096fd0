"""MEKA: explicit features of a kernel whose matrix does not fit in memory."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenlabel.inputs.data import check_data
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import COUNT, CheckedBy, Maybe, Parameters, check_parameters
from eigenlabel.kernels.kernel import KERNEL_PARAMETERS, Kernel, kernel_tags
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.euclidean import EuclideanDistances, distance_rounding
from eigenlabel.linalg.lowrank import meka
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import nearest

SQUARES_FIT = 1e15  # the largest float32 values whose sums of squares stay in range


def _closest(X: Matrix, centres: Floats) -> Ints:
    """Return the closest centre of each sample; ties up to rounding go to the first centre."""
    parts = row_blocks(X.shape[0], len(centres) + X.shape[1])
    distances = EuclideanDistances(centres)
    found = [nearest(distances(X[rows]), 1, distance_rounding(X[rows])) for rows in parts]
    return np.concatenate(found)[:, 0]


class MEKA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Map samples to features whose inner products approximate a kernel, block by block.

        K ~ Q S Q' = Z Z'      (Si et al. 2014; Equation 32 of Xiong et al. (KGHA))

    k-means splits the samples into blocks. Q is block diagonal: each block has a Nystrom basis of
    its own, with landmarks drawn from the block. S links the blocks by regression on entries that
    are sampled where the basis has most weight. The sampling may leave negative eigenvalues of S,
    which are set to zero. With ``n_blocks=1`` this is the Nystrom method. In a pipeline, every
    linear method behind the map becomes a kernel method for sizes at which the kernel matrix cannot
    be stored: ``make_pipeline(MEKA(), SharedSubspaceClassifierCV())``.

    Cost: linear in n. It takes n l kernel values and n l^2 operations with
    l = n_landmarks / n_blocks, where Nystrom has l = n_landmarks, and n_components^3 operations.
    Sparse X stays sparse; the map is dense, of shape (n, n_components).

    Parameters
    ----------
    n_components : int, default=500
        Upper bound on the number of features over all blocks. The strongest basis vectors of all
        blocks are kept.
    n_blocks : int, default=10
        Number of clusters of samples. More clusters are faster and less exact.
    n_landmarks : int or None, default=None
        Number of samples that the bases are built on, over all blocks. None is twice
        ``n_components``.
    kernel : str or callable, default="rbf"
        The kernel: "linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "chi2" or
        "intersection" (the last two compare histograms), or a function of two matrices that returns
        the kernel matrix of their rows. If the kernel is not positive semi-definite, its positive
        part is used.
    gamma : float or None, default=None
        Bandwidth of "rbf", "poly", "sigmoid", "laplacian" and "chi2". None is
        ``1 / (2 mean distance^2)`` for "rbf", 1 for "chi2" and ``1 / n_features`` for the others.
    degree : float, default=3
        Degree of the kernel "poly".
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict or None, default=None
        Keyword arguments of a callable kernel.
    random_state : int, RandomState instance or None, default=None
        Determines the landmarks, the sampled entries and the start of k-means.

    Attributes
    ----------
    n_components_ : int
        Number of features: at most ``n_components``, and at most the rank of the samples in the
        kernel, which is the number of eigenvalues above 2e-10 of the largest one.
    error_ : float
        Estimate of ``|K - Z Z'| / |K|`` (Frobenius norm) from 500 x 500 random entries of training
        samples. New samples are compared with the landmarks of their own block only: with several
        blocks their kernel values are approximate even if this is zero.
    clipped_ : float
        Share of S, by its Frobenius norm, that was negative and is left out.
    nbytes_ : int
        Number of bytes of Q and S, which products with K need; the kernel matrix has 8 n^2.
    centres_ : ndarray of shape (n_blocks_, n_features)
        Centres of the blocks. A new sample belongs to the block with the nearest centre.
    landmarks_ : list of ndarray of shape (n_landmarks_of_block, n_features)
        Landmarks of each block.
    maps_ : list of ndarray of shape (n_landmarks_of_block, n_components_)
        Matrices M of each block, with which the features of x are ``k(x, landmarks) M``.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

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
        kernel_params: dict[str, Any] | None = None,
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
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Choose blocks and landmarks among the samples, and link the blocks.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : object, default=None
            Ignored; it exists for pipelines.

        Returns
        -------
        self : object
            The fitted map.
        """
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
                f"kernel={self.kernel!r} has no positive part on the training data: there is "
                "nothing to map. Rescale X if its values are small."
            )
        self.centres_ = centres[[cluster[block.rows[0]] for block in factor.blocks]]
        self.landmarks_ = [block.landmarks for block in factor.blocks]
        self.maps_ = factor.maps()
        self.n_components_ = len(factor.values)
        self.error_ = factor.error(X, rng)
        self.clipped_, self.nbytes_ = factor.clipped, factor.nbytes
        return self

    def _exact_kernel(self, X: Matrix, Z: Matrix, where: str = "the training data") -> Floats:
        """Return kernel values in float64: the map divides by roots of small eigenvalues."""
        return self._kernel.values(X.astype(float, copy=False), Z.astype(float, copy=False), where)

    def _make_kernel(self) -> Kernel:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' is a matrix that fits in memory: use it without MEKA, or "
                "pass the kernel as a callable of two matrices."
            )
        return Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)

    def _cluster(self, X: Matrix, state: np.random.RandomState) -> Floats:
        """Return the centres of the blocks."""
        n_blocks = min(self.n_blocks, X.shape[0])
        if n_blocks == 1:
            return np.zeros((1, X.shape[1]), dtype=X.dtype)
        means = MiniBatchKMeans(n_blocks, n_init=1, random_state=state)
        if X.dtype == np.float32 and abs(X).max() > SQUARES_FIT:
            X = X.astype(float)
        return np.asarray(means.fit(X).cluster_centers_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Floats:
        """Map samples to features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        features : ndarray of shape (n_samples, n_components_)
            Features, the strongest first.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        out = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        for part in row_blocks(X.shape[0], max(map(len, self.maps_))):
            out[part] = self._features(X[part])
        return out

    def _features(self, X: Matrix) -> Floats:
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
