"""Locality preserving projections, and the graph of nearest neighbours that they need."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from eigenlabel.estimators.projection.base import PROJECTION_PARAMETERS, BaseProjection
from eigenlabel.inputs.parameters import COUNT, POSITIVE, Maybe, Parameters
from eigenlabel.kernels.factor import factorise_samples
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix
from eigenlabel.linalg.directions import (
    ROW_SPACE_ARRAYS,
    Directions,
    generalised_directions,
)
from eigenlabel.linalg.factors.base import Factor
from eigenlabel.linalg.ties import SAFETY, Rounding, nearest, precision


class LPP(BaseProjection):
    """Find the directions in which neighbours stay neighbours (He and Niyogi 2003).

        min tr(P'Xc'(D - W)Xc P)   subject to   P'Xc'D Xc P = I

    W joins each sample to its nearest neighbours with the heat weights ``exp(-d^2 / (2 t^2))`` of
    their distances d, and D is the diagonal matrix of its row sums. Distances that differ by no
    more than rounding count as equal, and among equally distant samples the first ones are joined.
    Labels are not used.

    The problem is solved on the principal axes of X, which for a kernel are those of :class:`PCA`.

    Cost: one eigendecomposition of the smaller of the n x n and d x d matrices, a search for
    neighbours and a generalised eigenproblem of the size of the rank of X.

    Parameters
    ----------
    n_components : int or None, default=None
        Upper bound on the number of directions. None keeps all directions that exist.
    n_neighbors : int, default=10
        Number of neighbours that each sample is joined to, at least 1. For a kernel, neighbours
        are found in its feature space.
    width : float or None, default=None
        The width t of the heat weights, more than 0. None is the mean distance to a neighbour.
    kernel : str or callable, default="linear"
        The kernel: "linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "chi2" or
        "intersection" (the last two compare histograms), "precomputed" if X is the kernel matrix,
        or a function of two matrices that returns the kernel matrix of their rows. If a kernel
        matrix is not positive semi-definite, its negative part is left out with a warning.
    gamma : float or None, default=None
        Bandwidth of "rbf", "poly", "sigmoid", "laplacian" and "chi2". None is
        ``1 / (2 mean distance^2)`` for "rbf", 1 for "chi2" and ``1 / n_features`` for the others.
    degree : float, default=3
        Degree of the kernel "poly".
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict or None, default=None
        Keyword arguments of a callable kernel.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Directions, one in each row, the best first. It exists for the linear kernel only.
    dual_coef_ : ndarray of shape (n_samples, n_components_)
        Coefficients of the training samples in each direction. It exists for other kernels only.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        Training samples, or their kernel matrix. It exists for other kernels only.
    eigenvalues_ : ndarray of shape (n_eigenvalues,)
        All eigenvalues of the problem in ascending order: the smoothest direction is the first.
    n_components_ : int
        Number of directions.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

    Examples
    --------
    >>> from eigenlabel import LPP
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> LPP(2).fit(data.X).transform(data.X).shape
    (200, 2)
    """

    _parameters: ClassVar[Parameters] = {
        **PROJECTION_PARAMETERS,
        "n_neighbors": COUNT,
        "width": Maybe(POSITIVE),
    }
    _supervised: ClassVar[bool] = False

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: int = 10,
        width: float | None = None,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(
            n_components,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
        )
        self.n_neighbors = n_neighbors
        self.width = width

    def _solve(self, X: Matrix, Y: Bools) -> tuple[Directions, Factor | None]:  # noqa: ARG002
        factor = factorise_samples(self._kernel, X, arrays=ROW_SPACE_ARRAYS)
        space = factor.row_space()
        if not space.values.size:  # all samples are equal
            return Directions(space.lift(np.zeros((0, 0))), np.zeros(0)), factor
        U, lengths = space.data(), np.sqrt(space.values)
        graph = heat_graph(U, self.n_neighbors, self.width, X.dtype)
        U /= lengths  # orthonormal columns: B is as well conditioned as the degrees D
        try:
            found = smoothest_directions(U, graph.weights)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"width={self.width:.6g} leaves hardly any weight between neighbours, whose mean "
                f"distance is {graph.mean_distance:.6g}. Pass a width of that size, or None."
            ) from None
        P = found.coefficients / lengths[:, None]
        return Directions(space.lift(P), np.maximum(found.eigenvalues, 0.0)), factor


@dataclass(frozen=True)
class HeatGraph:
    """The graph that joins nearest neighbours.

    Attributes
    ----------
    weights : csr_array of shape (n, n)
        Symmetric heat weights. The weight of a sample with itself is zero.
    mean_distance : float
        The mean distance of a sample to its neighbours.
    """

    weights: Matrix
    mean_distance: float


def heat_graph(Z: Floats, n_neighbors: int, width: float | None, dtype: Any) -> HeatGraph:
    """Join each row of Z to its nearest neighbours with weights ``exp(-d^2 / (2 width^2))``.

    The width None is the mean distance. ``dtype`` is the type of the samples that Z represents,
    which determines the rounding of distances.
    """
    n = len(Z)
    k = min(n_neighbors, n - 1)
    distances, neighbours = nearest_neighbours(Z, k, dtype)
    mean_distance = float(distances.mean())
    t = mean_distance if width is None else width
    heat = np.exp(-(distances**2) / (2 * t * t)) if t > 0 else np.ones_like(distances)
    rows = np.repeat(np.arange(n), k)
    W = sp.csr_array((heat.ravel(), (rows, neighbours.ravel())), shape=(n, n))
    return HeatGraph(sp.csr_array(W.maximum(W.T)), mean_distance)


def nearest_neighbours(Z: Floats, k: int, dtype: Any) -> tuple[Floats, Ints]:
    """Return the distances and the indices (n, k) of the nearest rows; ties go to the first rows.

    A few more than k candidates are found first. A row is compared with all rows only if all its
    candidates are as near as the k-th one, so that there may be further ties.
    """
    wide = min(2 * k + 10, len(Z) - 1)
    D, index = NearestNeighbors(n_neighbors=wide).fit(Z).kneighbors()
    # Coordinates of the row space have an error relative to the longest sample.
    eps = SAFETY * precision(dtype)
    rounding = Rounding(eps * np.sqrt((Z * Z).sum(axis=1).max()), eps)
    order = np.argsort(index, axis=1)
    D, index = (np.take_along_axis(A, order, axis=1) for A in (D, index))
    found = nearest(D, k, rounding)
    distances, neighbours = (np.take_along_axis(A, found, axis=1) for A in (D, index))
    if wide == len(Z) - 1:
        return distances, neighbours
    limit = distances.max(axis=1)
    for i in np.flatnonzero(D.max(axis=1) <= limit + rounding.at(limit)):
        d = np.sqrt(((Z - Z[i]) ** 2).sum(axis=1))
        d[i] = np.inf
        neighbours[i] = nearest(d[None], k, rounding)[0]
        distances[i] = d[neighbours[i]]
    return distances, neighbours


def smoothest_directions(U: Floats, W: Matrix) -> Directions:
    """Minimise ``tr(P'U'(D - W)U P)`` subject to ``P'U'D U P = I``, D the row sums of W.

    Raises LinAlgError if ``U'D U`` is numerically singular.
    """
    D = np.asarray(W.sum(axis=1)).ravel()
    B = U.T @ (D[:, None] * U)
    A = B - U.T @ (W @ U)
    # Samples without weight would make B singular in directions that only they vary in.
    B.flat[:: len(B) + 1] += np.trace(B) * np.finfo(float).eps * max(U.shape)
    return generalised_directions(A, B, largest=False)
