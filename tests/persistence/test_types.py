"""The list of trusted types follows the classes."""

import inspect
from importlib import import_module

import pytest
from sklearn.base import BaseEstimator

import eigenlabel
from eigenlabel.persistence.types import TRUSTED, refused_types, type_names


def test_every_public_estimator_is_trusted():
    public = [getattr(eigenlabel, name) for name in eigenlabel.__all__]
    classes = [t for t in public if inspect.isclass(t) and issubclass(t, BaseEstimator)]
    assert len(classes) > 30
    assert type_names(classes) <= TRUSTED


@pytest.mark.parametrize("name", sorted(n for n in TRUSTED if n.startswith("eigenlabel.")))
def test_every_trusted_name_exists(name):
    module, _, attribute = name.rpartition(".")
    assert hasattr(import_module(module), attribute)


def test_functions_that_write_files_are_not_trusted():
    assert not {n for n in TRUSTED if n.startswith(("eigenlabel.persistence", "eigenlabel.cli"))}


def test_one_name_is_not_a_list_of_names():
    with pytest.raises(TypeError, match="must be a list of classes or names, got the string"):
        type_names("my_rules.Quantile")


def test_types_that_nobody_trusts_are_refused():
    ours = sorted(TRUSTED)[:3]
    assert refused_types(["z.Strange", *ours, "a.Strange"], set()) == ["a.Strange", "z.Strange"]
    assert refused_types(["z.Strange", *ours], {"z.Strange"}) == []
