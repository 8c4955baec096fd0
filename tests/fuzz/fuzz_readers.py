"""Damaged files of every form: each is read, or raises DataError, quickly and within bounds.

Run by ``make fuzz``. EIGENLABEL_FUZZ_FILES is the number of files, EIGENLABEL_FUZZ_SEED the seed.
Small valid files are changed at random: bytes, numbers, lines, parts of other files, in compressed
ones also what is inside. A process of its own, of limited memory, reads them, so that a crash is
seen. The same seed always makes the same files.
"""

import contextlib
import gzip
import io
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import polars  # noqa: F401
import pyarrow.parquet  # noqa: F401  imported before the first file, which would wait for it
import pytest
import scipy.io
import scipy.sparse as sp

from eigenlabel.datasets import DataError, Dataset, iterate, load, save

FILES = int(os.environ.get("EIGENLABEL_FUZZ_FILES", "3600"))
SEED = int(os.environ.get("EIGENLABEL_FUZZ_SEED", "1"))
MEMORY, SECONDS = 5 * 2**30, 6  # of one process, and of one file
BATCHES = 4
BESIDE = (".xml", "annot.hvecs", ".labels.txt", ".features.txt")  # files that go with others
TEXTS = ("csv", "tsv", "jsonl", "svm", "txt", "arff")
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
WORDS = (b"1e999", b"-1", b"0", b"nan", b"inf", b"4294967296", b"99999999999999999999", b"1e-400")
WORDS += (
    b"",
    b"?",
    b"0x1p3",
    b"1_0",
    b"\xd9\xa1",
    b"'",
    b'"',
    b"{",
    b"}",
    b"[",
    b":",
    b",",
    b"\x00",
)
INTEGERS = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    2**40,
    2**63,
    2**64 - 1,
)


# Valid files


def make_data(sparse):
    """Make a small Dataset with everything that a Dataset can have."""
    rng = np.random.default_rng(SEED)
    X = np.round(rng.standard_normal((12, 5)) * (rng.uniform(size=(12, 5)) < 0.5), 2)
    Y = (rng.uniform(size=(12, 3)) < 0.4).astype(int)
    Y[0] = 1
    X[:, 0] = rng.integers(0, 3, 12)
    return Dataset(
        X=sp.csr_array(X) if sparse else X,
        Y=sp.csr_array(Y),
        feature_names=np.array(["colour", "a b", "c,d", "e", "ä"]),
        label_names=np.array(["u", "v", "w x"]),
        sample_names=np.array([f"s{i}" for i in range(12)]),
        views={"left": slice(0, 2), "right": slice(2, 5)},
        splits={"published": (np.arange(8), np.arange(8, 12))},
        categories={} if sparse else {"colour": ("red", "green", "blue")},
    )


def matlab_73(path, sparse, compression):
    """Write a MATLAB v7.3 file."""
    data = make_data(False)
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("Y", data=data.Y.toarray().T, compression=compression)
        if sparse:
            A, group = sp.csc_array(data.X), file.create_group("X")
            group.attrs["MATLAB_sparse"] = np.uint64(A.shape[0])
            group["data"], group["ir"] = A.data, A.indices.astype(np.uint64)
            group["jc"] = A.indptr.astype(np.uint64)
        else:
            file.create_dataset("X", data=data.X.T, compression=compression)
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file")


def valid_files(folder):
    """Return the contents of valid files, by name."""
    for kind in ("dense", "sparse"):
        data = make_data(kind == "sparse")
        numbers = replace(data, categories={})  # for forms that keep no words of categories
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* files do not contain")  # but npz do
            for suffix in ("csv", "tsv", "jsonl", "arff", "npz", "parquet"):
                save(data, folder / f"{kind}.{suffix}")
            for suffix in ("svm", "mat", "svm.gz"):
                save(numbers, folder / f"{kind}.{suffix}")
            save(numbers, folder / f"{kind}.txt", form="xmc")
        variables = {
            "X": data.X if kind == "dense" else sp.csc_matrix(data.X),
            "Y": data.Y.toarray(),
        }
        scipy.io.savemat(folder / f"{kind}-plain.mat", variables)
        matlab_73(folder / f"{kind}-73.mat", kind == "sparse", None if kind == "sparse" else "gzip")
    views = np.empty((1, 2), dtype=object)
    views[0, 0], views[0, 1] = data.X.toarray()[:, :2], data.X.toarray()[:, 2:]
    scipy.io.savemat(folder / "views.mat", {"view": views, "label": data.Y.toarray()})
    train = {f"{p}_data": data.X.toarray()[:6] for p in ("train", "test")}
    train |= {f"{p}_target": 2 * data.Y.toarray()[:6].T - 1 for p in ("train", "test")}
    scipy.io.savemat(folder / "pairs.mat", train)
    X = np.insert((data.X.toarray() * 100).astype("<i2"), 0, 5, axis=1)
    (folder / "it_hue.hvecs").write_bytes(X.astype("<i2").tobytes())
    Y = np.insert(data.Y.toarray(), 0, 3, axis=1)
    (folder / "it_annot.hvecs").write_bytes(Y.astype("<i2").tobytes())
    (folder / "quoted.csv").write_text(
        'name;text;size;tags\n"A ""x""; y";"some words\nand more";1,5;u|v\n'
        "B;other words;;v\nC;some words;2,5;u\n"
    )
    (folder / "nested.jsonl").write_text(
        '{"text": "some words", "features": {"a": 1, "b": 2.5}, "tags": ["u", "v"]}\n'
        '{"text": "more", "features": {}, "tags": []}\n{"size": 3, "ok": true, "tags": ["u"]}\n'
    )
    (folder / "it.xml").write_text('<labels><label name="u"/><label name="v"/></labels>')
    (folder / "it.arff").write_text(
        "@relation it\n@attribute a numeric\n@attribute 'b c' {x,'y z'}\n@attribute u {0,1}\n"
        "@attribute v {0,1}\n@data\n1.5,x,0,1\n?,'y z',1,0\n% nothing\n1e3,x,1,1\n"
    )
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# Damage


def flip(rng, data, _):
    """Change some bits."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def overwrite(rng, data, _):
    """Write an integer of some width over some bytes."""
    width = rng.choice((1, 2, 4, 8))
    value = rng.choice(INTEGERS) & (2 ** (8 * width) - 1)
    at = rng.randrange(len(data))
    return data[:at] + value.to_bytes(width, rng.choice(("little", "big"))) + data[at + width :]


def cut(rng, data, _):
    """Cut off the end."""
    return data[: rng.randrange(len(data))]


def delete(rng, data, _):
    """Leave out some bytes."""
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 4, 8, 50)) :]


def repeat(rng, data, _):
    """Repeat some bytes."""
    at = rng.randrange(len(data))
    part = data[at : at + rng.choice((1, 8, 100))]
    return data[:at] + part * rng.choice((2, 3, 200)) + data[at:]


def splice(rng, data, others):
    """Put a part of another file in."""
    other = rng.choice(others)
    start, at = rng.randrange(len(other)), rng.randrange(len(data))
    return data[:at] + other[start : start + rng.choice((4, 64, 1000))] + data[at:]


def change_number(rng, data, _):
    """Replace a number that is written out."""
    found = list(NUMBER.finditer(data))
    if not found:
        return flip(rng, data, _)
    place = rng.choice(found)
    return data[: place.start()] + rng.choice(WORDS) + data[place.end() :]


def insert_word(rng, data, _):
    """Put a word in."""
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(WORDS) + data[at:]


def change_lines(rng, data, _):
    """Leave out, double or swap lines."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i : i + 1] = rng.choice(([], [lines[i]] * 2, [lines[j]], [lines[i], b""]))
    return b"\n".join(lines)


ANYWHERE = (flip, overwrite, cut, delete, repeat, splice)
IN_TEXT = (change_number, change_number, insert_word, change_lines)


def damage(rng, name, data, others):
    """Change a file at random, once or several times; outside or inside of its compression."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        if name.endswith(".npz") and rng.random() < 0.7:
            data = damage_npz(rng, data, others)
        elif name.endswith(".gz") and rng.random() < 0.7 and data[:2] == b"\x1f\x8b":
            data = damage_gzip(rng, data, others)
        elif name.endswith(".mat") and b"MATLAB 5" in data[:20] and rng.random() < 0.5:
            data = damage_mat(rng, data, others)
        else:
            ways = ANYWHERE + (IN_TEXT * 2 if name.rpartition(".")[2] in TEXTS else ())
            data = rng.choice(ways)(rng, data or b"\n", others)
    return data


def damage_npz(rng, data, others):
    """Change an array inside."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # damaged before
        return flip(rng, data, others)
    if not files:
        return flip(rng, data, others)
    name = rng.choice(list(files))
    way = rng.choice((*ANYWHERE, change_number, insert_word))
    files[name] = way(rng, files[name] or b"\n", others)
    if rng.random() < 0.1:
        files[rng.choice(list(files))] = files.pop(name)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def damage_gzip(rng, data, others):
    """Change the text inside."""
    try:
        text = gzip.decompress(data)
    except Exception:  # damaged before
        return flip(rng, data, others)
    return gzip.compress(rng.choice(ANYWHERE + IN_TEXT)(rng, text or b"\n", others), mtime=0)


def damage_mat(rng, data, others):
    """Change a compressed element inside of a MATLAB v5 file."""
    at, elements = 128, []
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 15 and at + 8 + size <= len(data):
            elements.append((at, size))
        at += 8 + size
    if not elements:
        return overwrite(rng, data, others)
    at, size = rng.choice(elements)
    try:
        inside = zlib.decompress(data[at + 8 : at + 8 + size])
    except zlib.error:
        return flip(rng, data, others)
    packed = zlib.compress(rng.choice(ANYWHERE)(rng, inside or b"\n", others))
    return data[:at] + struct.pack("<II", 15, len(packed)) + packed + data[at + 8 + size :]


# Reading, in a process of its own


def check_data(name, content, data):
    """Raise AssertionError unless what was read holds together."""
    X, Y = data.X, data.Y
    n, d = X.shape
    assert n > 0
    assert d > 0
    assert Y.shape == (n, len(data.label_names))
    assert len(data.feature_names) == d
    assert data.sample_names is None or len(data.sample_names) == n
    for A in (X, Y):
        if sp.issparse(A):
            A.check_format(full_check=True)
    values, labels = (A.data if sp.issparse(A) else np.asarray(A).ravel() for A in (X, Y))
    assert values.dtype.kind in "biuf"
    if name.rpartition(".")[2] in TEXTS and b"inf" not in content.lower():
        assert not np.isinf(values).any()
    assert (np.isin(labels, (0, 1)) | np.isnan(labels)).all()
    for rows in (rows for split in data.splits.values() for rows in split):
        assert ((rows >= 0) & (rows < n)).all()
    assert all(0 <= s.start <= s.stop <= d for s in data.views.values())
    assert set(data.categories) <= set(map(str, data.feature_names))
    assert str(data)


def read(path):
    """Read a file whole and in pieces."""
    content, outcome = path.read_bytes(), "refused"
    with contextlib.suppress(DataError):
        check_data(path.name, content, load(path))
        outcome = "read"
    with contextlib.suppress(DataError):
        for piece in iterate(path, rows=5):
            check_data(path.name, content, piece)
    return outcome


def too_slow(*_):
    """Stop reading a file."""
    raise TimeoutError(f"not read within {SECONDS} s")


def work(folder, start):
    """Read the files of a folder from a number on, and print what became of them."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, too_slow)
    warnings.simplefilter("error")
    for path in sorted(folder.iterdir(), key=lambda path: int(path.name))[start:]:
        (file,) = [p for p in path.iterdir() if not p.name.endswith(BESIDE)]
        print(path.name, end=" ", flush=True)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            outcome = read(file)
        except BaseException as error:  # whatever it is, it is reported
            outcome = f"{type(error).__module__}.{type(error).__name__}: {str(error)[:200]!r}"
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(outcome, flush=True)


def run(folder):
    """Read all files of a folder in processes, a new one after a crash; return the outcomes."""
    outcomes, environment = {}, {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1", **os.environ}
    count = len(list(folder.iterdir()))
    while len(outcomes) < count:
        command = [sys.executable, __file__, str(folder), str(len(outcomes))]
        found = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=600
        )
        for line in found.stdout.splitlines():
            number, _, outcome = line.partition(" ")
            tail = found.stderr.strip().splitlines()[:3]
            outcomes[int(number)] = outcome or f"crashed with code {found.returncode}: {tail}"
        if not found.stdout:
            raise RuntimeError(found.stderr)
    return outcomes


def write_batch(folder, batch, valid):
    """Write the damaged files of a batch, each in a folder of its own; return what they are."""
    rng = random.Random(1000 * SEED + batch)
    names = [name for name in valid if not name.endswith(BESIDE)]
    others, made = list(valid.values()), {}
    for number in range(FILES // BATCHES):
        name = names[(number + batch) % len(names)]
        target = folder / str(number)
        target.mkdir(parents=True)
        (target / name).write_bytes(damage(rng, name, valid[name], others))
        beside = {".arff": Path(name).stem + ".xml", ".hvecs": "it_annot.hvecs"}.get(
            Path(name).suffix
        )
        if beside is not None:
            (target / beside).write_bytes(valid[beside])
        made[number] = name
    return made


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    files = valid_files(tmp_path_factory.mktemp("valid"))
    assert len(files) > 30
    return files


@pytest.mark.parametrize("batch", range(BATCHES))
def test_damaged_files_are_read_or_raise_a_data_error(batch, valid, tmp_path):
    made = write_batch(tmp_path / "files", batch, valid)
    outcomes = run(tmp_path / "files")
    odd = {
        f"{number} ({made[number]})": o
        for number, o in outcomes.items()
        if o not in ("read", "refused")
    }
    assert not odd
    assert len(outcomes) == FILES // BATCHES
    read = sum(outcome == "read" for outcome in outcomes.values())
    assert len(outcomes) / 10 < read < len(outcomes) * 9 / 10  # else nothing is damaged, or all


def test_valid_files_are_read(valid, tmp_path):
    for name, content in valid.items():
        (tmp_path / name).write_bytes(content)
    for name in valid:
        if not name.endswith(BESIDE):
            assert read(tmp_path / name) == "read", name


if __name__ == "__main__":
    work(Path(sys.argv[1]), int(sys.argv[2]))
