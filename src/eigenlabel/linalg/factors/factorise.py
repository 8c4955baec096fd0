"""Choose the factor of a linear problem by its shape and the memory there is."""

from eigenlabel.linalg.factors.base import SampleFactor
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.gram import LinearGramFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.machine import ARRAYS, check_memory, exact_memory, memory_limit
from eigenlabel.linalg.operators import CentredOperator


def factorise(
    operator: CentredOperator,
    centre: bool = True,
    route: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 1000,
    max_memory: float | None = None,
    arrays: float = ARRAYS,
) -> SampleFactor:
    """Factor the data of a linear problem.

    Parameters
    ----------
    operator : the centred data, with sample weights
    centre : whether there is an intercept without penalty
    route : "gram" (n x n), "covariance" (d x d), "krylov" (products alone) or "auto": the smaller
        side, or products if that side does not fit in memory
    tol : relative residual at which "krylov" stops
    max_iter : upper bound on the number of iterations of "krylov"
    max_memory : upper bound on the bytes of the factor's arrays; None is the memory that the
        process can still use. "gram" and "covariance" raise MemoryError if they do not fit.
    arrays : number of square arrays that exist at once
    """
    n, d = operator.shape
    limit = memory_limit() if max_memory is None else max_memory
    if route == "auto":
        route = "gram" if n <= d else "covariance"
        if exact_memory(min(n, d), arrays) > limit:
            route = "krylov"
    if route == "krylov":
        return KrylovFactor(operator, centre, tol, max_iter, limit)
    if route == "gram":
        check_memory(n, "Gram factor", limit=limit, arrays=arrays)
        return LinearGramFactor(operator, centre)
    check_memory(d, "covariance factor", limit=limit, arrays=arrays)
    return CovarianceFactor(operator, centre)
