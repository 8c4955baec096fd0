"""An interrupted or failed fit leaves every estimator exactly as it was."""

import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils import get_tags

import eigenlabel
from discovery import instances, outputs, settled
from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace, save
from eigenlabel.inputs.fitting import available_if
from eigenlabel.preprocessing import ColumnGroups

PACKAGE = str(Path(eigenlabel.__file__).parent)
SCALERS = [("first", StandardScaler(), slice(0, 2)), ("rest", Normalizer(), slice(2, 4))]
MODELS = [*instances(), ColumnGroups(SCALERS)]
CHANGING = ("fit", "fit_transform", "fit_predict")


def interrupted(model, call, at=None):
    """Run call and interrupt it at some line of the model's own methods; return how many ran."""
    lines, other = 0, sys.gettrace()

    def trace(frame, event, _):
        nonlocal lines
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE) or code.co_name in ("changed", "__getattr__"):
            return None  # these two go on with the estimator once it has changed
        if not isinstance(frame.f_locals.get("self"), type(model)):
            return None
        if event == "line":
            lines += 1
            if lines == at:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        assert at is not None
    finally:
        sys.settrace(other)
    return lines


def places(lines, points):
    """Return the lines at which a call is interrupted: evenly spaced ones, and the last two."""
    return sorted({*np.linspace(1, lines, points, dtype=int).tolist(), lines - 1})


def check_unchanged(model, call, at):
    """Interrupt a call at one of its lines; no attribute of the model may change."""
    before = dict(vars(model))
    interrupted(model, call, at)
    after = vars(model)
    assert after.keys() == before.keys(), at
    changed = [name for name in before if after[name] is not before[name]]
    assert not changed, (at, changed)


def two_samples(model):
    """Return two training sets of different sizes and labels."""
    if type(model).__name__ == "HomogeneityAnalysis":
        table = np.array([["a", "b", "c"][k % 3] for k in range(60)]).reshape(20, 3)
        return (np.roll(table, 1, axis=0)[:12], None), (np.roll(table, 1)[:, ::-1], None)
    sets = [make_shared_subspace(n, 4, m, random_state=m) for n, m in ((30, 3), (36, 4))]
    return tuple((np.abs(data.X) + (m == 1), data.Y) for m, data in enumerate(sets))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_an_interrupted_fit_changes_nothing(model):
    model = settled(model)
    (X, y), (Z, t) = two_samples(model)
    names = [name for name in CHANGING if hasattr(model, name)]
    for name in names:
        twin = clone(model)
        lines = interrupted(twin, lambda twin=twin, name=name: getattr(twin, name)(X, y))
        for at in places(lines, 3):
            check_unchanged(model, lambda name=name: getattr(model, name)(X, y), at)
        with pytest.raises(NotFittedError):
            outputs(model, X)
    model.fit(X, y)
    expected = outputs(model, X)
    for name in names:
        twin = clone(model).fit(X, y)
        lines = interrupted(twin, lambda twin=twin, name=name: getattr(twin, name)(Z, t))
        for at in places(lines, 7):
            check_unchanged(model, lambda name=name: getattr(model, name)(Z, t), at)
    for name, found in outputs(model, X).items():
        np.testing.assert_array_equal(found, expected[name])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_failed_fit_changes_nothing(model):
    model = settled(model)
    (X, y), (Z, _) = two_samples(model)
    bad = [(np.full(Z.shape, None if y is None else np.inf), y)]
    if get_tags(model).target_tags.required:
        bad.append((Z, y))  # more samples than labels
    for fitted in (False, True):
        if fitted:
            model.fit(X, y)
        before = dict(vars(model))
        for samples, labels in bad:
            with pytest.raises(ValueError):
                model.fit(samples, labels)
            assert vars(model) == before


def stream_calls(path):
    """List the methods that change a model fitted by blocks, each as a function of the model."""
    data = make_shared_subspace(24, 4, 3, random_state=5)
    file = path / "more.npz"
    save(data, file)

    def merge(model):
        other = clone(model).partial_fit(data.X, data.Y, classes=model.classes_)
        return lambda: model.merge(other)

    return {
        "partial_fit": lambda model: lambda: model.partial_fit(data.X, data.Y),
        "forget": lambda model: lambda: model.forget(data.X[:6], data.Y[:6]),
        "merge": merge,
        "finish": lambda model: model.finish,
        "fit_files": lambda model: lambda: model.fit_files([file], rows=10),
        "the first use of coef_": lambda model: lambda: model.coef_,
        "fit": lambda model: lambda: model.fit(data.X, data.Y),
    }


@pytest.mark.parametrize("kind", [SharedSubspaceClassifier, SharedSubspaceClassifierCV])
def test_interrupted_blocks_change_nothing(kind, tmp_path):
    data = make_shared_subspace(24, 4, 3, random_state=5)

    def fitted(solved):
        model = settled(kind()).partial_fit(data.X, data.Y).partial_fit(data.X + 1, data.Y)
        return model if not solved else (model.coef_, model)[1]

    for name, make in stream_calls(tmp_path).items():
        if name == "forget" and not hasattr(kind, "forget"):
            continue
        for solved in (False, True):
            if solved and name.endswith("coef_"):
                continue
            twin = fitted(solved)
            lines = interrupted(twin, make(twin))
            for at in places(lines, 7):  # an interrupted call may leave a stream solved
                model = fitted(solved)
                check_unchanged(model, make(model), at)
            np.testing.assert_array_equal(model.coef_, fitted(True).coef_)


def public_methods(model):
    """List the public methods that need a fitted model, with arguments for them."""
    X, y = two_samples(model)[0]
    given = {"X": X, "y": y, "other": model}
    skipped = {*dir(BaseEstimator), "partial_fit", "fit_files", "sources", *CHANGING}
    for name, method in inspect.getmembers(type(model), inspect.isfunction):
        if name.startswith(("_", "set_", "get_metadata")) or name in skipped:
            continue
        wanted = inspect.signature(method).parameters
        yield name, {key: value for key, value in given.items() if key in wanted}


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_method_of_an_unfitted_model_raises_an_error(model):
    model = clone(model)
    for name, arguments in public_methods(model):
        if not hasattr(model, name):  # depends on a parameter or on the inner classifier
            continue
        with pytest.raises(NotFittedError):
            getattr(model, name)(**arguments)


def test_every_fit_of_the_package_changes_all_or_nothing():
    for module in pkgutil.walk_packages(eigenlabel.__path__, "eigenlabel."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds, found = [BaseEstimator], set()
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if kind.__module__.startswith("eigenlabel.") and hasattr(kind, "fit"):
            found.add(kind.__name__)
            assert hasattr(kind.fit, "__wrapped__"), kind
    assert len(found) > 30


class Shy:
    """Has a method only if it may."""

    def __init__(self, may):
        self.may = may

    def _check(self):
        if not self.may:
            raise AttributeError("it may not")

    @available_if(_check)
    def speak(self, loud=False):
        """Return a word."""
        return "HELLO" if loud else "hello"


def test_a_method_that_is_not_available_states_the_reason():
    assert not hasattr(Shy(False), "speak")
    with pytest.raises(AttributeError, match=r"^it may not$"):
        Shy(False).speak()
    assert Shy(True).speak(loud=True) == "HELLO"
    assert list(inspect.signature(Shy.speak).parameters) == ["self", "loud"]
    assert inspect.getattr_static(Shy, "speak").__doc__ == Shy.speak.__doc__ == "Return a word."
