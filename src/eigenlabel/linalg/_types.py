"""Type aliases of arrays."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
# scipy's sparse matrices and arrays share no useful static base class.
Matrix: TypeAlias = Any
