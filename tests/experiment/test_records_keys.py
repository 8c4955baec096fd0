"""Keys of runs contain everything that decides the figures, and nothing else."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from eigenlabel import KGHA, PCA, ASOClassifier, SharedSubspaceClassifier, catalogue
from eigenlabel.datasets import save_npz
from eigenlabel.experiment import Data, Method, Splits, plan
from eigenlabel.experiment import records as keys_module
from eigenlabel.experiment.records import fingerprint
from eigenlabel.reproduce import get_table
from protocols import planted, small_protocol


def keys(**changes):
    return {t.key for t in plan(small_protocol(**changes)).tasks}


def test_everything_that_decides_figures_is_in_the_key(tmp_path):
    data, other = planted(0), planted(0)
    svm = Method("svm", OneVsRestClassifier(LinearSVC()), {}, {"estimator__C": [1.0]})
    base = {"data": [Data("d", data)], "methods": [svm]}
    first = keys(**base)
    assert first == keys(**base)
    other.Y[0, 0] = 1 - other.Y[0, 0]
    sparse = replace(data, X=sp.csr_array(data.X * (data.X > 0)))
    moved = replace(sparse, X=sp.csr_array(np.roll(sparse.X.toarray(), 1, axis=1)))
    variants = [
        {"data": [Data("d", other)]},
        {"data": [Data("d", data, prepare="none")]},
        {"data": [Data("d", data, min_positives=2)]},
        {"data": [Data("d", data, min_documents=2)]},
        {"data": [Data("d", data, {"anything": 1})]},
        {"data": [Data("d", sparse)]},
        {"data": [Data("d", moved)]},
        {"methods": [replace(svm, grid={"estimator__C": [2.0]})]},
        {"methods": [replace(svm, scoring="f1_micro")]},
        {"methods": [replace(svm, method=OneVsRestClassifier(LinearSVC(C=3)))]},
        {"methods": [replace(svm, parameters={"estimator__C": 3.0})]},
    ]
    found = [keys(**{**base, **variant}) for variant in variants]
    for one, two in itertools.combinations([first, *found], 2):
        assert not one & two
    folds = [keys(**base, splits=Splits("folds", n)) for n in (2, 3)]
    assert not folds[0] & folds[1], "another number of folds makes other folds"
    path = tmp_path / "d.npz"
    save_npz(data, path)
    before = keys(data=[Data("d", str(path))])
    save_npz(other, path)
    assert not before & keys(data=[Data("d", str(path))]), "the content decides, not the name"
    csr, csc = (replace(data, X=form(data.X)) for form in (sp.csr_array, sp.csc_array))
    assert keys(data=[Data("d", csr)]) == keys(data=[Data("d", csc)])


@pytest.mark.parametrize(
    ("table", "method", "key"),
    [
        ("kgha-table4", "KGHA", "6965618e9a8e865a"),
        ("kgha-table4", "TagProp-RK", "789281920c5bd4a2"),
        ("kgha-table6", "p/m 0.5", "9960d912ccee637c"),
        ("kgha-claims-debtags", "lambda 0.1, p/m 0.5", "77c93575e0c3f497"),
        ("kgha-claims-debtags", "joined", "a49df32762a90f60"),
    ],
)
def test_recorded_runs_keep_their_keys(table, method, key):
    protocol = get_table(table).protocol()
    data = next(d for d in protocol.data if d.name == "debtags")
    chosen = next(m for m in protocol.methods if m.name == method)
    assert fingerprint(protocol, data, chosen) == key, "a new key repeats hours of recorded runs"


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (SharedSubspaceClassifier(kernel="rbf"), True),
        (make_pipeline(PCA(kernel="rbf"), LinearSVC()), True),
        (SharedSubspaceClassifier(kernel="rbf", gamma=0.1), False),
        (SharedSubspaceClassifier(), False),
        (KGHA(), False),
        (KernelRidge(kernel="rbf"), False),
    ],
)
def test_records_with_the_old_bandwidth_rule_are_not_reused(estimator, expected, monkeypatch):
    protocol = small_protocol(methods=[Method("m", estimator)])
    data, method = protocol.data[0], protocol.methods[0]
    found = fingerprint(protocol, data, method)
    monkeypatch.setattr(keys_module, "_settles_bandwidth", lambda _: False)
    assert (fingerprint(protocol, data, method) != found) == expected


def test_a_revision_of_a_method_has_a_key_of_its_own(monkeypatch):
    protocol = small_protocol(methods=[Method("MLkNN")])
    data, method = protocol.data[0], protocol.methods[0]
    first = fingerprint(protocol, data, method)
    recipe = catalogue.METHODS["MLkNN"]
    monkeypatch.setitem(catalogue.METHODS, "MLkNN", replace(recipe, revision=2))
    assert fingerprint(protocol, data, method) != first
    monkeypatch.setitem(catalogue.METHODS, "MLkNN", replace(recipe, about="other words"))
    assert fingerprint(protocol, data, method) == first


def test_parameters_that_came_later_are_not_in_keys_by_default():
    described = keys_module._describe(ASOClassifier(1.0))
    assert "kernel" not in described
    assert "gamma" not in described
    assert "kernel='rbf'" in keys_module._describe(ASOClassifier(kernel="rbf"))
    assert "kernel='linear'" in keys_module._describe(SharedSubspaceClassifier())


def test_a_function_is_described_by_its_name():
    step = FunctionTransformer(np.log1p)
    other = FunctionTransformer(itertools.chain.from_iterable)
    ours = FunctionTransformer(planted)
    for transformer in (step, other, ours, make_pipeline(ours, LinearSVC())):
        assert " at 0x" not in keys_module._describe(transformer)
    assert "protocols.planted" in keys_module._describe(ours)
    assert keys_module._describe(ours) != keys_module._describe(FunctionTransformer(keys))
