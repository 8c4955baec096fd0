"""Checks of model files that do not rely on the library that reads them.

A model file of skops is a zip archive. Its member ``schema.json`` is a tree of nodes, each with the
name of its loader; arrays are members of their own. :func:`read_schema`, :func:`read_stamp` and
:func:`check_schema` examine the tree before anything is built from it, and :func:`check_objects`
examines the objects that were built. None of them runs code that a file names.
"""

import io
import json
import re
import zipfile
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.data import check_sparse_format

OLDEST = 2  # protocol of skops of the oldest model files
MOST_NODES = 10**7
# The loaders that models need. Others call what a file names (MethodNode, OperatorFuncNode,
# ConstructorFromReduceNode), or build objects that compiled code uses without a check (TreeNode).
LOADERS = frozenset(
    f"{name}Node"
    for name in (
        *("DType", "DefaultDict", "Dict", "Function", "Json", "List", "Loss", "MaskedArray"),
        *("NdArray", "Object", "RandomState", "Set", "Slice", "SparseMatrix", "Tuple", "Type"),
    )
)
# A LossNode calls the type that it names, so that the type must be in one of these modules. They
# contain losses only.
LOSSES = ("sklearn._loss._loss", "sklearn.linear_model._sgd_fast")
VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")
# The version of eigenlabel that wrote a form of files which does not state its version.
UNSTATED = {1: "0.1"}


class UnsafeNodeError(ValueError):
    """A node that is never loaded, even if a user trusts its type."""

    def __init__(self, node: dict[str, Any]) -> None:
        super().__init__(f"a node {node['__loader__']} that no model needs")
        self.type_name = f"{node.get('__module__')}.{node.get('__class__')}"


class Stamp(NamedTuple):
    """What a file states about itself: its form, and the version that wrote it if it is known."""

    form: int
    version: str | None


def read_schema(archive: zipfile.ZipFile, max_bytes: float) -> Any:
    """Return the tree of a model file; raise ValueError if its content is too large."""
    _check_size(sum(item.file_size for item in archive.infolist()), max_bytes)
    return json.loads(archive.read("schema.json"))


def read_stamp(schema: Any) -> Stamp | None:
    """Return the stamp of a model file, or None if it has none."""
    content = schema.get("content") if isinstance(schema, dict) else None
    if not isinstance(content, dict):
        return None
    form, version = (_simple_value(content.get(key)) for key in ("eigenlabel", "version"))
    if type(form) is not int:
        return None
    if not isinstance(version, str) or not VERSION.fullmatch(version):
        version = UNSTATED.get(form)
    return Stamp(form, version)


def _simple_value(node: Any) -> Any:
    """Return the number or string of a node, or None if it is something else."""
    if not isinstance(node, dict) or node.get("__loader__") != "JsonNode":
        return None
    text = node.get("content")
    return json.loads(text) if isinstance(text, str) else None


def check_schema(schema: Any, archive: zipfile.ZipFile, max_bytes: float) -> None:
    """Raise ValueError if the tree of a model file has nodes that no model needs, or is too large.

    Parameters
    ----------
    schema : object
        The tree.
    archive : ZipFile
        The opened model file.
    max_bytes : float
        Upper bound on the decompressed size of all arrays that the nodes read.
    """
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol < OLDEST:
        raise ValueError(f"protocol {protocol!r}, but {OLDEST} or more is needed")
    tree = _Tree(archive)
    if tree.count(schema) > MOST_NODES:
        raise ValueError(f"more than {MOST_NODES:,} objects, counted once for each use")
    _check_size(tree.bytes, max_bytes)


def _check_size(size: float, max_bytes: float) -> None:
    if size > max_bytes:
        raise ValueError(f"{size / 2**20:.0f} MiB of content; pass max_bytes")


class _Tree:
    """The nodes of a schema: the number of visits, and the bytes of their arrays.

    An object that is used in several places has one number, ``__id__``, and is visited once for
    each place. Without a bound, loading a small file could take forever.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive, self.bytes = archive, 0
        self.counts: dict[Any, int] = {}

    def count(self, value: Any) -> int:
        """Return the number of nodes in a part of the tree, and check each of them."""
        if isinstance(value, list):
            return sum(map(self.count, value))
        if not isinstance(value, dict):
            return 0
        below = sum(map(self.count, value.values()))
        loader = value.get("__loader__")
        if not isinstance(loader, str):  # a map of nodes
            return below
        other = loader == "LossNode" and value.get("__module__") not in LOSSES
        if loader not in LOADERS or other:
            raise UnsafeNodeError(value)
        number = value.get("__id__")
        if number not in self.counts or number is None:
            self.bytes += self._bytes(value)
        elif self.counts[number] != below + 1:
            raise ValueError(f"two objects with the number {number!r}")
        self.counts[number] = below + 1
        return below + 1

    def _bytes(self, node: dict[str, Any]) -> int:
        """Return the size of the member that a node reads. A sparse matrix is an archive too."""
        if "file" not in node:
            return 0
        size = self.archive.getinfo(node["file"]).file_size
        if node["__loader__"] == "SparseMatrixNode":
            with zipfile.ZipFile(io.BytesIO(self.archive.read(node["file"]))) as parts:
                size += sum(item.file_size for item in parts.infolist())
        return size


def check_objects(root: Any) -> None:
    """Raise ValueError if an object holds an array or a sparse matrix that is not valid."""
    seen, todo = set(), [root]
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        if sp.issparse(thing):
            _check_sparse(thing)
        elif isinstance(thing, np.ndarray):
            _check_array(thing)
            todo += thing.tolist() if thing.dtype == object else []
        elif isinstance(thing, dict):
            todo += [*thing.keys(), *thing.values()]
        elif isinstance(thing, (list, tuple, set)):
            todo += thing
        else:
            check = getattr(type(thing), "check_loaded", None)
            if check is not None:  # such as a forest, whose nodes must not form circles
                check(thing)
            todo += getattr(thing, "__dict__", {}).values()


def _check_sparse(matrix: Any) -> None:
    """Check a sparse matrix; a file may set each of its attributes."""
    known = vars(matrix)
    for name in known.keys() - {"_shape", "data", "indices", "indptr", "maxprint"}:
        del known[name]  # flags, and attributes that would hide a method
    check_sparse_format(matrix)


def _check_array(array: np.ndarray) -> None:
    if array.size and not array.dtype.itemsize:
        raise ValueError(f"an array of {array.size} elements whose size is zero")
