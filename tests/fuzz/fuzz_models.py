"""Tampered model files: each loads and predicts, or raises the documented error.

Run with ``python -m pytest -q tests/fuzz/fuzz_models.py``; the seed is fixed. Files are read in
processes of their own with bounded memory, so that a crash, a hang or a call of foreign code is
found and named by its number: ``python tests/fuzz/fuzz_models.py NUMBER`` repeats one.
"""

import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

SEED, CASES, BATCH = 0, 1200, 300
MEMORY, SECONDS = 3 * 2**30, 20  # bounds for a process, and for one file
FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "subprocess.Popen",
    "socket.connect",
)
CALLABLES = ("os.system", "builtins.eval", "builtins.exec", "subprocess.Popen", "operator.call")
JUNK = (None, True, -1, 0, 2**31, 10**30, 1e308, "", "x", "numpy.ndarray", [], {}, [[]], {"a": 1})
SHAPES = ((), (0,), (1,), (10**12,), (3, 10**9), (2, 2), (40,), (5, 3), (1, 1, 1))
TYPES = (
    "<f8",
    "<f4",
    "<i8",
    "<i4",
    "|b1",
    "<c16",
    "<U0",
    "<U9",
    "|V0",
    "|O",
    ">f8",
    "<M8[s]",
    "junk",
)
LOADERS = (
    "MethodNode",
    "OperatorFuncNode",
    "PartialNode",
    "ConstructorFromReduceNode",
    "TreeNode",
    "LossNode",
)


def make_models():
    """Return saved models of several kinds as bytes, with samples to predict."""
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import eigenlabel as el
    from eigenlabel.persistence import SavedModel, save_model

    data = el.datasets.make_shared_subspace(60, 6, 4, 2, prevalence=0.3, random_state=0)
    sparse = sp.csr_array(np.where(np.abs(data.X) > 0.8, data.X, 0))
    models = {
        "linear": (el.SharedSubspaceClassifier(n_components=2), data.X),
        "tuned": (el.SharedSubspaceClassifierCV([0.0], [0.1], [2], cv=2), data.X),
        "kernel": (el.SharedSubspaceClassifier(n_components=2, kernel="rbf"), data.X),
        "sparse kernel": (el.SharedSubspaceClassifier(n_components=2, kernel="rbf"), sparse),
        "neighbours": (el.MLkNN(), data.X),
        "sparse neighbours": (el.MLkNN(), sparse),
        "pipeline": (make_pipeline(StandardScaler(), el.SharedSubspaceClassifier()), data.X),
        "scikit-learn": (OneVsRestClassifier(LogisticRegression()), data.X),
        "loss": (OneVsRestClassifier(SGDClassifier(random_state=0)), data.X),
    }
    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (model, X) in models.items():
            saved = SavedModel(
                model.fit(X, data.Y),
                data.feature_names,
                data.label_names,
                categories={"feature_0": ("a", "b")},
                views={"text": slice(0, 3)},
                options={"text": "t"},
            )
            save_model(saved, Path(folder) / "m")
            found.append((name, (Path(folder) / "m").read_bytes(), X[:5]))
    return found


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def flip(rng, data):
    """Change some bytes."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def splice(rng, data, other):
    """Replace a part by a part of other data, or remove it."""
    start, stop = sorted(rng.choices(range(len(data) + 1), k=2))
    first, last = sorted(rng.choices(range(len(other) + 1), k=2))
    return data[:start] + rng.choice([b"", other[first:last]]) + data[stop:]


def tamper_file(rng, data):
    return flip(rng, data) if rng.random() < 0.5 else splice(rng, data, data)


def tamper_member(rng, data):
    members = members_of(data)
    name = rng.choice(list(members))
    if rng.random() < 0.7:
        members[name] = flip(rng, members[name])
    elif rng.random() < 0.8:
        members[name] = splice(rng, members[name], members[rng.choice(list(members))])
    else:
        del members[name]
    return packed(members)


def nodes_of(value):
    if isinstance(value, dict):
        if "__loader__" in value:
            yield value
        for part in value.values():
            yield from nodes_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from nodes_of(part)


def tamper_schema(rng, data):
    members = members_of(data)
    schema = json.loads(members["schema.json"])
    for _ in range(rng.randint(1, 3)):
        nodes = list(nodes_of(schema))
        node, other = rng.choice(nodes), rng.choice(nodes)
        key = rng.choice(list(node))
        act = rng.randrange(7)
        if act == 0:
            del node[key]
        elif act == 1:
            node[key] = rng.choice(JUNK)
        elif act == 2 and node is not other:
            node[key] = json.loads(json.dumps(other.get(key)))
        elif act == 3:
            node["__module__"], node["__class__"] = rng.choice(CALLABLES).rsplit(".", 1)
        elif act == 4:
            node["__loader__"] = rng.choice([*LOADERS, other["__loader__"]])
        elif act == 5 and isinstance(node.get("content"), (dict, list)) and node["content"]:
            parts = node["content"]
            where = rng.choice(list(parts) if isinstance(parts, dict) else range(len(parts)))
            parts[where] = json.loads(json.dumps(other))
        elif act == 6 and isinstance(node.get("content"), str):
            node["content"] = rng.choice(["null", "1e999", "-1", '"x"', "[1, 2]", "{}", "nonsense"])
    members["schema.json"] = json.dumps(schema).encode()
    return packed(members)


def tamper_header(rng, data):
    members = members_of(data)
    name = rng.choice([n for n in members if n.endswith(".npy")])
    array = np.load(io.BytesIO(members[name]))
    kind = rng.choice([array.dtype.str, *TYPES])
    shape = rng.choice([array.shape, array.shape[::-1], *SHAPES])
    header = {"descr": kind, "fortran_order": rng.random() < 0.5, "shape": shape}
    words = repr(header).encode().ljust(117) + b"\n"
    size = len(words).to_bytes(2, "little")
    members[name] = b"\x93NUMPY\x01\x00" + size + words + array.tobytes()
    return packed(members)


def tamper_sparse(rng, data):
    members = members_of(data)
    names = [n for n in members if n.endswith(".npz")]
    if not names:
        return tamper_header(rng, data)
    name = rng.choice(names)
    parts = dict(np.load(io.BytesIO(members[name])))
    part = rng.choice(list(parts))
    if part == "format":
        parts[part] = np.array(rng.choice([b"csc", b"coo", b"bsr", b"dia", b"junk"]))
    elif parts[part].size and rng.random() < 0.6:
        changed = parts[part].copy()
        far = (-1, 0, 5, 10**6, 2**31 - 1, -(2**31))
        changed.flat[rng.randrange(changed.size)] = rng.choice(far)
        parts[part] = changed
    else:
        far = ([0], [], [10**6] * 61, [0, -1, 5], [2**40, 3])
        parts[part] = np.array(rng.choice(far), dtype=rng.choice([np.int64, np.float64]))
    out = io.BytesIO()
    np.savez(out, **parts)
    members[name] = out.getvalue()
    return packed(members)


TAMPERS = (tamper_file, tamper_member, tamper_schema, tamper_schema, tamper_header, tamper_sparse)


def tampered(number, models):
    """Return the model of a case, its tampered file, and samples to predict."""
    rng = random.Random(f"{SEED}/{number}")
    name, data, X = models[number % len(models)]
    how = TAMPERS[(number // len(models)) % len(TAMPERS)]
    return f"{name}, {how.__name__}", how(rng, data), X


def attempt(path, X):
    """Load and predict as the command line does; return the outcome."""
    from eigenlabel.cli.predictions import predict_with
    from eigenlabel.datasets import DataError
    from eigenlabel.persistence import load_model

    try:
        saved = load_model(path, max_bytes=2**26)
    except DataError:
        return "refused"
    try:
        predict_with(saved, X, scores=False)
        predict_with(saved, X, scores=True)
    except (ValueError, TypeError, MemoryError):
        return "failed"
    return "predicted"


def work(numbers):
    """Try cases in this process; print a line before and after each."""
    models, ran = make_models(), []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "m.skops"
        path.write_bytes(models[0][1])
        assert attempt(path, models[0][2]) == "predicted"  # this imports all modules
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        sys.addaudithook(lambda event, _: ran.append(event) if event in FORBIDDEN else None)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends compiled code that hangs
        for number in numbers:
            what, data, X = tampered(number, models)
            print(json.dumps([number, what, "begun"]), flush=True)
            path.write_bytes(data)
            signal.alarm(SECONDS)
            try:
                outcome = attempt(path, X)
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}"
            signal.alarm(0)
            if ran:
                outcome = f"ran code: {ran}"
                ran.clear()
            print(json.dumps([number, what, outcome]), flush=True)


def campaign(numbers):
    """Run cases in processes until all are done; return number -> (what, outcome)."""
    left, found = list(numbers), {}
    while left:
        called = [sys.executable, __file__, *map(str, left[:BATCH])]
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            called, capture_output=True, text=True, check=False, env={**os.environ, **threads}
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert lines, done.stderr
        found |= {number: (what, outcome) for number, what, outcome in lines}
        number, what, outcome = lines[-1]
        assert done.returncode == 0 or outcome == "begun", done.stderr
        if outcome == "begun":
            found[number] = (what, f"ended with {done.returncode}: {done.stderr[-300:]}")
        left = [n for n in left if n not in found]
    return found


@pytest.mark.parametrize("part", range(2))
def test_tampered_models_raise_an_error_or_predict(part):
    found = campaign(range(part, CASES, 2))
    bad = {n: f for n, f in found.items() if f[1] not in ("refused", "failed", "predicted")}
    assert bad == {}
    outcomes = [outcome for _, outcome in found.values()]
    assert min(outcomes.count(o) for o in ("refused", "predicted")) > 50  # both outcomes occur


if __name__ == "__main__":
    work([int(number) for number in sys.argv[1:]])
