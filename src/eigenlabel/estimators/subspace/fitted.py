"""The state of a model: a solution or a stream of blocks, and the fitted attributes.

A model *has* a solution (:class:`~eigenlabel.estimators.subspace.solve.SubspaceSolution`), which
``fit`` stores, or a stream of blocks (:class:`~eigenlabel.estimators.subspace.stream.Stream`),
which is solved once when a prediction or a fitted attribute is needed. Fitted attributes are
properties that read the solution.
"""

import copy
from abc import abstractmethod
from inspect import getattr_static
from typing import Any, TypeVar

from sklearn.exceptions import NotFittedError

from eigenlabel.estimators.base import ScoreClassifier
from eigenlabel.estimators.subspace.columns import Columns
from eigenlabel.estimators.subspace.solve import SubspaceSolution
from eigenlabel.estimators.subspace.stream import Stream
from eigenlabel.estimators.subspace.weights import Weights
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.kernels.factor import Solver, warn_shortfall
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.threads import idle_threads

Value = TypeVar("Value")
Model = TypeVar("Model", bound="FittedSubspace")


class FittedSubspace(ScoreClassifier):
    """The solution or the stream of a model, and its fitted attributes.

    Subclasses define how a stream of blocks is solved.
    """

    kernel: Any
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: dict[str, Any] | None
    fit_intercept: bool
    solver: str
    tol: float
    max_iter: int
    max_memory: float | None

    _solution: SubspaceSolution | None = None
    _stream: Stream | None = None
    _finished: bool = False

    def _make_kernel(self) -> Kernel:
        """Return the kernel of the parameters; its bandwidth is not settled yet."""
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        self._make_solver().check_kernel(kernel)
        return kernel

    @property
    def _limit(self) -> float:
        """Upper bound on the memory in bytes."""
        return self._make_solver().limit

    def _make_solver(self) -> Solver:
        """Return how the parameters say that equations are solved."""
        return Solver(self.solver, self.tol, self.max_iter, self.max_memory, self.fit_intercept)

    # The solution

    @abstractmethod
    def _solve_stream(self, stream: Stream) -> SubspaceSolution:
        """Solve the equations of all samples of a stream."""

    def _solved(self) -> SubspaceSolution:
        """Return the solution; a stream is solved once after its last block."""
        if self._stream is None:
            if self._solution is None:
                raise NotFittedError(
                    f"This {type(self).__name__} is not fitted yet: call fit or partial_fit."
                )
            return self._solution
        if self._stream.solution is None:
            with idle_threads():
                stream = self._stream.settle()
                stream.check_solvable()
                stream.solution = self._solve_stream(stream)
            warn_shortfall(stream.solution.shortfall)
        assert self._stream.solution is not None
        return self._stream.solution

    @all_or_nothing
    def _store(
        self: Model, codec: LabelCodec, solution: SubspaceSolution, columns: Columns | None = None
    ) -> Model:
        """Become the model of a solution; columns are those of data the model has not seen."""
        if columns is not None:
            columns.store(self)
        self._codec, self.classes_ = codec, codec.classes
        self._solution, self._stream, self._finished = solution, None, False
        warn_shortfall(solution.shortfall)
        return self

    @all_or_nothing
    def _follow(self: Model, stream: Stream) -> Model:
        """Become the model of a stream."""
        stream.columns.store(self)
        self._codec = stream.columns.codec
        self.classes_ = self._codec.classes
        self._solution, self._stream, self._finished = None, stream, False
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self._solution is not None or self._stream is not None

    # Display

    def __dir__(self) -> list[str]:
        """List the attributes, without those that are expensive to compute.

        scikit-learn reads every attribute that is listed. That must neither solve a stream nor
        multiply the factors of the weights of many labels.
        """
        hidden: set[str] = set()
        solution = self._solution if self._stream is None else self._stream.solution
        if solution is None:
            names = dir(type(self))
            hidden = {n for n in names if isinstance(getattr_static(type(self), n), property)}
            hidden.discard("n_samples_seen_")  # is known without a solution
        elif solution.weights.label_weights is not None:
            hidden = {"coef_", "dual_coef_"}
        return [n for n in object.__dir__(self) if n not in hidden and hasattr(self, n)]

    def _displayed(self: Model) -> Model:
        """Return the model that a notebook shows: one without a stream that is not solved yet."""
        shown = copy.copy(self)
        if shown._stream is not None and shown._stream.solution is None:
            shown._stream = None
        return shown

    def _repr_html_inner(self) -> Any:
        return super(FittedSubspace, self._displayed())._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return super(FittedSubspace, self._displayed())._repr_mimebundle_(**kwargs)

    # Fitted attributes

    def _present(self, name: str, value: Value | None) -> Value:
        """Return a fitted attribute; raise AttributeError if the model does not have it."""
        if value is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return value

    def _full_weights(self, name: str, *, linear: bool) -> Floats:
        weights: Weights = self._solved().weights
        if weights.subspace.linear != linear:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            return weights.full(self._limit)
        except MemoryError as error:  # so that hasattr returns False
            raise AttributeError(str(error)) from None

    def _basis(self, name: str, *, linear: bool) -> Floats:
        subspace = self._solved().weights.subspace
        return self._present(name, subspace.array if subspace.linear == linear else None)

    @property
    def coef_(self) -> Floats:
        """Weights (n_labels, n_features) of a linear kernel."""
        return self._full_weights("coef_", linear=True)

    @property
    def dual_coef_(self) -> Floats:
        """Dual coefficients (n_samples, n_labels) of other kernels."""
        return self._full_weights("dual_coef_", linear=False)

    @property
    def X_fit_(self) -> Any:  # noqa: N802
        """Training samples, or their kernel matrix, which kernels that are not linear need."""
        return self._present("X_fit_", self._solved().weights.subspace.samples)

    @property
    def components_(self) -> Floats:
        """Basis (n_components_, n_features) of the shared subspace, for a linear kernel."""
        return self._basis("components_", linear=True)

    @property
    def dual_components_(self) -> Floats:
        """Dual coefficients (n_samples, n_components_) of the basis, for other kernels."""
        return self._basis("dual_components_", linear=False)

    @property
    def label_weights_(self) -> Floats:
        """Weights (n_components_, n_labels) in the shared subspace, for many labels."""
        return self._present("label_weights_", self._solved().weights.label_weights)

    @property
    def intercept_(self) -> Floats:
        """Intercepts (n_labels,)."""
        return self._solved().weights.intercept

    @property
    def eigenlabels_(self) -> Floats:
        """Combinations (n_labels, n_components_) of labels that share the subspace."""
        return self._solved().eigenlabels

    @property
    def eigenvalues_(self) -> Floats:
        """Eigenvalues of S, descending."""
        return self._solved().eigenvalues

    @property
    def n_components_(self) -> int:
        """Dimension of the shared subspace."""
        return int(self._solved().eigenlabels.shape[1])

    @property
    def n_iter_(self) -> int:
        """Number of iterations of the solver."""
        return self._solved().n_iter

    @property
    def residuals_(self) -> Floats:
        """Residuals of an iterative solver, by label."""
        return self._present("residuals_", self._solved().residuals)

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples that came in blocks, without those forgotten."""
        count = None if self._stream is None else self._stream.count
        return self._present("n_samples_seen_", count)
