"""The n x n side of a linear problem, for wide X."""

from functools import cached_property

import numpy as np

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.gram import GramFactor
from eigenlabel.linalg.factors.protocol import Factor
from eigenlabel.linalg.operators import CentredOperator


class LinearGramFactor(GramFactor):
    """Linear ridge regressions through the Gram matrix ``Xc Xc'``: weights are ``Xc'c``.

    Parameters
    ----------
    operator : the centred data
    centre : whether there is an intercept without penalty
    K : (n, n) Gram matrix of the operator, computed if None (n^2 d), else overwritten
    rows : rows of the operator that the factor is for, if not all
    """

    def __init__(
        self,
        operator: CentredOperator,
        centre: bool = True,
        K: Floats | None = None,
        rows: Ints | None = None,
    ) -> None:
        weights = operator.weights
        super().__init__(
            operator.gram() if K is None else K,
            weights if weights is None or rows is None else weights[rows],
            centre,
            operator.dtype,
            operator.shape[1],
            overwrite=True,
        )
        self.axis_floor = 0.0  # of a linear kernel the rank rule of the data is enough
        self._source, self._rows = operator, rows

    @cached_property
    def operator(self) -> CentredOperator:
        """The centred data of the factor's own rows; these are copied when first needed."""
        if self._rows is None:
            return self._source
        return self._source.recentred(self._rows, self.centre)

    @property
    def origin(self) -> Floats:
        """The mean (d,) of the features."""
        return self.operator.mean

    def export(self, c: Floats) -> Floats:
        """Return the weights ``Xc'c`` (d, k)."""
        return self.operator.rmatmat(c)

    def orthonormalise(self, directions: Floats) -> tuple[Floats, Floats]:
        """Return the QR decomposition of the weights, see :class:`Factor`."""
        return Factor.orthonormalise(self, directions)

    def _part(self, rows: Ints) -> GramFactor:
        whole = rows if self._rows is None else self._rows[rows]
        return LinearGramFactor(self._source, self.centre, self.K[np.ix_(rows, rows)], whole)
