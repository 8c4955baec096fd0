"""Manipulated model files: each raises an error that names the reason, and none crashes."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier

from eigenlabel import MLkNN, SharedSubspaceClassifier, ThresholdedClassifier
from eigenlabel.cli import main
from eigenlabel.datasets import DataError, make_shared_subspace, save
from eigenlabel.inputs.data import check_sparse_format
from eigenlabel.persistence import SavedModel, load_model, save_model
from model_files import content, edit

DATA = make_shared_subspace(40, 5, 3, 2, prevalence=0.3, random_state=0)


def node(loader, name, **more):
    module, _, name = name.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": loader, **more}


@pytest.mark.parametrize("loss", ["hinge", "modified_huber", "log_loss", "epsilon_insensitive"])
def test_linear_models_with_a_loss_are_saved(tmp_path, loss):
    inner = OneVsRestClassifier(SGDClassifier(loss=loss, random_state=0))
    model = ThresholdedClassifier(inner, cv=2).fit(DATA.X, DATA.Y)
    save_model(model, tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops").model
    np.testing.assert_array_equal(again.predict(DATA.X), model.predict(DATA.X))


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_model_with_trees_is_not_saved_and_the_message_explains_why(tmp_path, forest):
    inner = forest(2, max_depth=2, random_state=0)
    model = ThresholdedClassifier(inner, cv=2).fit(DATA.X, DATA.Y)
    with pytest.raises(DataError, match=r"a model with \S+\.Tree cannot be saved, because"):
        save_model(model, tmp_path / "m.skops")
    assert list(tmp_path.iterdir()) == []


# save_model writes none of these nodes.
GLOBALS = node(
    "MethodNode",
    "eigenlabel.metrics.f1_macro",
    content={"func": "__globals__", "obj": node("FunctionNode", "eigenlabel.metrics.f1_macro")},
)
CALL = node(
    "ConstructorFromReduceNode",
    "eigenlabel.metrics.f1_macro",
    content=node("TupleNode", "builtins.tuple", content=[]),
)
OPERATOR = node(
    "OperatorFuncNode",
    "operator.methodcaller",
    attrs=node("TupleNode", "builtins.tuple", content=[]),
)


LOSS = node(  # of a type that skops trusts, with arguments that the file names
    "LossNode",
    "sklearn.linear_model._ridge.Ridge",
    __reduce__={"args": node("TupleNode", "builtins.tuple", content=[])},
    content=node("DictNode", "builtins.dict", content={}, key_types=None),
)


@pytest.mark.parametrize("attack", [GLOBALS, CALL, OPERATOR, LOSS], ids=lambda a: a["__loader__"])
def test_nodes_that_call_what_a_file_names_are_rejected(attack, tmp_path):
    """On skops 0.11 the first of these reaches the globals of a function."""
    path = tmp_path / "m.skops"
    path.write_bytes(skops.io.dumps(content()))
    edit(path, lambda schema, _: schema["content"].update(model=attack))
    with pytest.raises(DataError, match=f"a node {attack['__loader__']} that no model needs"):
        load_model(path)


@pytest.mark.parametrize("protocol", [0, 1, "2", None, [], 2.0])
def test_old_protocols_are_rejected(protocol, tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(skops.io.dumps(content()))
    edit(path, lambda schema, _: schema.update(protocol=protocol))
    with pytest.raises(DataError, match=r"protocol .* but 2 or more is needed"):
        load_model(path)


def test_nested_repeated_objects_do_not_take_exponential_time(tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(skops.io.dumps(content()))
    inner = node("ListNode", "builtins.list", content=[], __id__=10**6)
    for k in range(60):  # each is visited twice as often as the one around it
        twice = [inner, node("ListNode", "builtins.list", content=[], __id__=10**6 + k)]
        inner = node("ListNode", "builtins.list", content=twice, __id__=10**6 + k + 1)
    edit(path, lambda schema, _: schema["content"].update(model=inner))
    with pytest.raises(DataError, match="two objects with the number"):
        load_model(path)


def test_memory_is_counted_for_each_use_of_a_member(tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(skops.io.dumps(content(model=[np.zeros(10**5)])))
    load_model(path, max_bytes=10**6)

    def repeat(schema, members):
        name = next(n for n, data in members.items() if len(data) > 10**5)
        arrays = [
            node("NdArrayNode", "numpy.ndarray", type="numpy", file=name, __id__=10**6 + k)
            for k in range(20)
        ]
        schema["content"]["model"]["content"] = arrays

    edit(path, repeat)
    with pytest.raises(DataError, match="15 MiB of content; pass max_bytes"):
        load_model(path, max_bytes=10**6)


def test_a_sparse_matrix_that_is_large_after_decompression_is_rejected(tmp_path):
    path = tmp_path / "m.skops"
    matrix = sp.csr_matrix((1, 1))

    def inflate(_, members):
        name = next(n for n in members if n.endswith(".npz"))
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as parts:
            parts.writestr("data.npy", bytes(2**24))
        members[name] = inner.getvalue()

    path.write_bytes(skops.io.dumps(content(model=[matrix])))
    edit(path, inflate)
    assert path.stat().st_size < 10**5
    with pytest.raises(DataError, match="16 MiB of content; pass max_bytes"):
        load_model(path, max_bytes=10**6)


# part -> a value that no CSR matrix of 4 x 6 with 5 entries has
WRONG = {
    "index too large": ("indices", [0, 2, 10**7, 1, 5]),
    "index below zero": ("indices", [0, 2, -(10**7), 1, 5]),
    "pointer too large": ("indptr", [0, 2, 10**7, 4, 5]),
    "pointers that fall": ("indptr", [0, 4, 2, 4, 5]),
    "last pointer zero": ("indptr", [0, 10**7, 2, 4, 0]),
    "last pointer below zero": ("indptr", [0, 1, 2, 4, -5]),
    "too few pointers": ("indptr", [0, 5]),
    "no pointers": ("indptr", []),
    "too few values": ("data", [1.0]),
    "values that are words": ("data", ["a", "b", "c", "d", "e"]),
    "indices that are not whole": ("indices", [0.0, 2.0, 0.0, 1.0, 5.0]),
    "a matrix of indices": ("indices", [[0, 2, 0, 1, 5]]),
}


def broken_matrix(part, value, kind=sp.csr_array):
    matrix = kind((4, 6)) if kind is sp.csr_array else kind((6, 4))
    matrix.indptr = np.array([0, 2, 3, 4, 5], dtype=np.int32)
    matrix.indices = np.array([0, 2, 0, 1, 5], dtype=np.int32)
    matrix.data = np.ones(5)
    check_sparse_format(matrix)
    found = np.array(value)
    setattr(matrix, part, found.astype(np.int32) if found.dtype.kind == "i" else found)
    if not len(value):
        matrix.indptr = np.zeros(0, dtype=np.int32)
    return matrix


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("name", WRONG)
def test_sparse_matrices_are_checked_in_full(name, kind):
    matrix = broken_matrix(*WRONG[name], kind)
    matrix._has_canonical_format = matrix._has_sorted_indices = True
    with pytest.raises(ValueError, match=r"indptr|indices|entries|vector"):
        check_sparse_format(matrix)


@pytest.mark.parametrize("shape", [None, (4,), (4, -6), (4.0, 6.0), "46", (10**9, 6), (4, 3)])
def test_shapes_of_sparse_matrices_are_checked(shape):
    matrix = broken_matrix("data", [1.0] * 5)
    matrix._shape = shape
    with pytest.raises(ValueError, match=r"shape|dimensions|indptr|indices"):
        check_sparse_format(matrix)


def test_other_sparse_formats_are_rejected():
    with pytest.raises(ValueError, match="must be CSR or CSC, found dia_array"):
        check_sparse_format(sp.dia_array((3, 3)))


def test_a_tampered_matrix_of_training_samples_does_not_crash(tmp_path):
    path = tmp_path / "m.skops"
    model = MLkNN().fit(sp.csr_array(np.where(np.abs(DATA.X) > 0.7, DATA.X, 0)), DATA.Y)
    model._X.indices = model._X.indices + np.int32(10**8)
    save_model(SavedModel(model, DATA.feature_names, DATA.label_names), path)
    code = (
        "import sys, numpy as np, scipy.sparse as sp\n"
        "from eigenlabel.persistence import load_model\n"
        "load_model(sys.argv[1]).model.predict(sp.csr_array(np.ones((3, 5))))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1  # a segmentation fault would return a signal
    assert "DataError" in run.stderr
    assert "the indices must be between 0 and 4" in run.stderr


def test_arrays_whose_elements_have_size_zero_are_rejected(tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(skops.io.dumps(content(model=[np.zeros(3)])))

    def change(_, members):
        for name, data in members.items():
            if name.endswith(".npy") and b"'<f8'" in data[:128]:
                header = b"{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }"
                header = header.ljust(117) + b"\n"
                size = len(header).to_bytes(2, "little")
                members[name] = b"\x93NUMPY\x01\x00" + size + header

    edit(path, change)
    with pytest.raises(DataError, match=r"size is zero|damaged"):
        load_model(path)


def test_commands_report_what_is_wrong_with_a_model(tmp_path, capsys):
    path = tmp_path / "m.skops"
    save(DATA, tmp_path / "d.npz")
    model = SharedSubspaceClassifier().fit(DATA.X, DATA.Y)
    save_model(SavedModel(model, DATA.feature_names, DATA.label_names[:2]), path)
    for words in (["predict"], ["evaluate"]):
        assert main([*words, str(path), str(tmp_path / "d.npz")]) == 1
        assert "label" in capsys.readouterr().err
    del model._solution
    save_model(SavedModel(model, DATA.feature_names, DATA.label_names), path)
    assert main(["predict", str(path), str(tmp_path / "d.npz")]) == 1
    assert "eigenlabel: " in capsys.readouterr().err
