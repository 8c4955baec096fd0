"""Declarations of parameters: what they accept, their errors, and which estimators have them."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import eigenlabel
from eigenlabel import (
    KGHA,
    ASOClassifier,
    MLkNN,
    MtSDA,
    MtSDACV,
    OneVsRestSearchCV,
    SharedSubspaceClassifier,
    SVMPerfClassifier,
    ThresholdedClassifier,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inputs.parameters import (
    ByView,
    Choice,
    ColumnsByView,
    Flag,
    Integer,
    Jobs,
    Maybe,
    Number,
    OrCallable,
    ParameterTypeError,
    ParameterValueError,
    Several,
    WordOr,
    check_number,
    check_parameters,
)

ACCEPTED = [
    (Number(0), 0),
    (Number(0), np.float32(2.5)),
    (Number(0, inf=True), np.inf),
    (Number(0, 1), 1),
    (Integer(1), np.int64(3)),
    (Integer(1), 10**200 // 10**150),
    (Flag(), np.True_),
    (Choice("a", "b"), "b"),
    (Maybe(Integer(1)), None),
    (OrCallable(Choice("a")), len),
    (ByView(Number(0)), {"x": 1.0, "y": 0}),
    (ByView(Number(0)), [1.0, 0]),
    (ColumnsByView(), None),
    (ColumnsByView(), {"x": slice(0, 3)}),
    (WordOr(("a",), Number(0)), "a"),
    (WordOr(("a",), Number(0)), 2),
    (Several(Number(0)), np.array([1.0, 2.0])),
    (Jobs(), -1),
]

REJECTED = [
    (Number(0), -1, ParameterValueError, "p must be a number >= 0, got -1."),
    (Number(0), "1", ParameterTypeError, "p must be a number >= 0, got '1'."),
    (Number(0), True, ParameterTypeError, "p must be a number >= 0, got True."),
    (Number(0), np.inf, ParameterValueError, "p must be a number >= 0, got inf."),
    (Number(0), np.nan, ParameterValueError, "p must be a number >= 0, got nan."),
    (Number(), 1j, ParameterTypeError, "p must be a number, got 1j."),
    (Number(0, above=True), 0, ParameterValueError, "p must be a number > 0, got 0."),
    (Number(0, above=True), 1e-308, ParameterValueError, "p must be a number > 0, got 1e-308."),
    (Number(0, 1), 2, ParameterValueError, "p must be a number between 0 and 1, got 2."),
    (Number(0, inf=True), -1, ParameterValueError, "must be a number >= 0, or infinity, got -1."),
    (
        Number(0, 1, above=True),
        0,
        ParameterValueError,
        "p must be a number between 0 (excluded) and 1, got 0.",
    ),
    (Integer(1), 1.0, ParameterTypeError, "p must be an integer >= 1, got 1.0."),
    (Integer(1), 10**400, ParameterValueError, "p must be at most 1e+150"),
    (Flag(), "no", ParameterTypeError, "p must be True or False, got 'no'."),
    (Choice("a", "b"), "c", ParameterValueError, "p must be one of 'a', 'b', got 'c'."),
    (Choice("a"), ["a"], ParameterValueError, "p must be one of 'a', got ['a']."),
    (Maybe(Integer(1)), 0, ParameterValueError, "p must be an integer >= 1, got 0."),
    (OrCallable(Choice("a")), 3, ParameterValueError, "p must be one of 'a', got 3."),
    (ByView(Number(0)), {"x": -1}, ParameterValueError, "p must be a number >= 0, got -1."),
    (ByView(Number(0)), (1, -1), ParameterValueError, "p must be a number >= 0, got -1."),
    (ColumnsByView(), {}, ParameterTypeError, "p must be a dict of names -> columns, got {}."),
    (ColumnsByView(), [0, 1], ParameterTypeError, "p must be a dict of names -> columns"),
    (WordOr(("a",), Number(0)), "b", ParameterValueError, "p must be one of 'a', got 'b'."),
    (WordOr(("a",), Number(0)), -1, ParameterValueError, "p must be a number >= 0, got -1."),
    (Several(Number(0)), [], ParameterValueError, "p is empty: pass at least one value."),
    (Several(Number(0)), "12", ParameterTypeError, "p must be a sequence, got '12'."),
    (Several(Number(0)), 1.0, ParameterTypeError, "p must be a sequence, got 1.0."),
    (Several(Number(0)), [1, -1], ParameterValueError, "p must be a number >= 0, got -1."),
    (Jobs(), 10**6, ParameterValueError, "p must be an integer between -10000 and 10000"),
]


@pytest.mark.parametrize(("declaration", "value"), ACCEPTED)
def test_a_value_within_the_bounds_passes(declaration, value):
    assert declaration.check("p", value) is None


@pytest.mark.parametrize(("declaration", "value", "error", "message"), REJECTED)
def test_other_values_raise_an_error_with_bound_and_value(declaration, value, error, message):
    with pytest.raises(error) as caught:
        declaration.check("p", value)
    assert message in str(caught.value)
    assert caught.value.name == "p"
    assert str(caught.value) == f"p {caught.value.problem}"


def test_errors_survive_a_pickle():
    error = pickle.loads(pickle.dumps(ParameterValueError("alpha", "must be a number.")))
    assert str(error) == "alpha must be a number."


class Model:
    _parameters = {"alpha": Number(0), "loss": Choice("a", "b")}  # noqa: RUF012

    def __init__(self, alpha=1.0, loss="a"):
        self.alpha = alpha
        self.loss = loss


def test_all_declared_parameters_are_checked_in_their_order():
    check_parameters(Model())
    with pytest.raises(ParameterValueError, match="loss must be one of"):
        check_parameters(Model(loss="c"))
    with pytest.raises(ParameterValueError, match="alpha must be a number"):
        check_parameters(Model(alpha=-1, loss="c"))


@pytest.fixture
def data():
    return make_shared_subspace(60, 5, 4, random_state=0)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"alpha": -1}, ValueError, "alpha must be a number >= 0, or infinity, got -1"),
        ({"alpha": np.nan}, ValueError, "alpha must be .* got nan"),
        ({"alpha": "1"}, TypeError, "alpha must be a number"),
        ({"beta": -1e-3}, ValueError, "beta must be a number >= 0, got -0.001"),
        ({"beta": np.inf}, ValueError, "beta must be a number >= 0, got inf"),
        ({"beta": True}, TypeError, "beta must be a number"),
        ({"n_components": 5}, ValueError, "n_components must be an integer between 0 and 4, got 5"),
        ({"n_components": -1}, ValueError, "an integer >= 0, got -1"),
        ({"n_components": 2.0}, TypeError, "n_components must be an integer"),
        ({"kernel": "gauss"}, ValueError, "kernel must be one of 'linear', 'poly'"),
        ({"kernel": "rbf", "gamma": -1}, ValueError, "gamma must be a number >= 0, got -1"),
        ({"kernel": "rbf", "solver": "covariance"}, ValueError, "Use solver='auto'"),
        ({"solver": "svd"}, ValueError, "solver must be one of 'auto', 'gram', 'covariance'"),
        ({"kernel_params": {"p": 1}}, ValueError, "kernel_params are the keyword arguments"),
        ({"kernel": lambda X, Z: np.ones(3)}, ValueError, r"expected shape \(60, 60\), got \(3,\)"),
        (
            {"kernel": lambda X, Z: np.full((len(X), len(Z)), np.nan)},
            ValueError,
            "returns NaN or infinity",
        ),
    ],
)
def test_wrong_parameters_of_an_estimator_raise_an_error(params, error, message, data):
    with pytest.raises(error, match=message):
        SharedSubspaceClassifier(**params).fit(data.X, data.Y)


@pytest.mark.parametrize(
    "estimator", [ASOClassifier, KGHA, MtSDA, SVMPerfClassifier, SharedSubspaceClassifier]
)
def test_a_word_in_place_of_a_flag_raises_an_error(estimator, data):
    with pytest.raises(TypeError, match="fit_intercept must be True or False, got 'no'"):
        estimator(fit_intercept="no").fit(data.X, data.Y)


@pytest.mark.parametrize("model", [OneVsRestSearchCV(), ThresholdedClassifier(MLkNN())])
def test_numbers_of_jobs_are_checked(model, data):
    for wrong in (2.5, np.inf, 10**30, "all"):
        with pytest.raises((TypeError, ValueError), match="n_jobs must be an integer between"):
            clone(model).set_params(n_jobs=wrong).fit(data.X, data.Y)


def test_integers_beyond_64_bits_are_compared(data):
    with pytest.raises(ValueError, match="n_components must be an integer between 0 and 4, got 10"):
        SharedSubspaceClassifier(n_components=10**30).fit(data.X, data.Y)
    for value in (10**400, -(10**400)):
        with pytest.raises(ValueError, match="x must be a number between 0 and 1, got"):
            check_number("x", value, 0, 1)


@pytest.mark.parametrize(
    "model",
    [
        SharedSubspaceClassifier(beta=1e300),
        KGHA(gamma=1e200),
        MtSDACV(l2s=[1.0, 1e308]),
    ],
    ids=str,
)
def test_parameters_that_leave_the_range_of_floats_raise_an_error(model, data):
    with pytest.raises(ValueError, match=r"at most 1e\+150 in absolute value, got 1e\+"):
        model.fit(data.X, data.Y)


ROOMS = ("agreement", "graphs", "neighbours", "views")


def estimators_of(rooms):
    """Return the public estimators of some rooms of ``eigenlabel.estimators``."""
    public = [getattr(eigenlabel, name) for name in eigenlabel.__all__]
    found = [t for t in public if inspect.isclass(t) and issubclass(t, BaseEstimator)]
    prefixes = tuple(f"eigenlabel.estimators.{room}." for room in rooms)
    return [thing for thing in found if thing.__module__.startswith(prefixes)]


@pytest.mark.parametrize("estimator", estimators_of(ROOMS))
def test_an_estimator_declares_exactly_the_parameters_of_its_init(estimator):
    assert set(estimator._parameters) == set(inspect.signature(estimator).parameters)


@pytest.mark.parametrize("estimator", estimators_of(ROOMS))
def test_the_default_parameters_are_allowed(estimator):
    check_parameters(estimator())


def test_every_room_has_an_estimator():
    for room in ROOMS:
        assert estimators_of([room])
