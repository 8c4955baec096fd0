"""Which attributes of an ARFF file are labels: by a MULAN XML file, or by MEKA's -C option."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.files.decompression import read_bytes, stem
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.text import decode
from eigenlabel.inputs.messages import Message, Parameter

MEKA = re.compile(r"-C\s+(-?\d+)")


def read_label_names(path: Any) -> tuple[list[str], tuple[str, ...]]:
    """Return the label names of a MULAN XML file, and a note if it has a hierarchy."""
    text = decode(path, read_bytes(path))
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise DataError(path, "document types and entities are not read")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise DataError(path, f"not XML ({error})", error.position[0]) from error
    labels = [e for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    names = [name for e in labels if (name := e.get("name")) is not None]
    if not names or len(names) < len(labels):
        raise DataError(path, "no <label name=...> elements")
    nested = any(child in labels for e in labels for child in e)
    return names, ("the label hierarchy is ignored",) if nested else ()


def _find_xml(path: Path) -> Path | None:
    """Return the XML file of the same name, of the part before a dash, or the only one there is."""
    name = stem(path)
    for candidate in (name, name.split("-")[0]):
        if (path.parent / f"{candidate}.xml").is_file():
            return path.parent / f"{candidate}.xml"
    found = sorted(path.parent.glob("*.xml"))
    return found[0] if len(found) == 1 else None


def find_labels(
    path: Path, xml: Any, relation: str, names: list[str], like: Any
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return a mask of the attributes that are labels, and notes.

    With ``like`` they are those that have the names of its labels, of which there may be none.
    Otherwise the XML file names them, or MEKA's ``-C n`` in the name of the relation counts them.
    """
    if like is not None and xml is None:
        wanted = set(map(str, like.label_names)) - set(map(str, like.feature_names))
        return np.array([name in wanted for name in names]), ()
    xml = _find_xml(path) if xml is None else Path(xml)
    if xml is not None:
        if not xml.is_file():
            raise DataError(xml, "no such file")
        found, notes = read_label_names(xml)
        wanted = set(found)
        missing = sorted(wanted - set(names))
        if missing:
            raise DataError(xml, f"label {missing[0]!r} is not an attribute of {path.name}")
        return np.array([name in wanted for name in names]), notes
    match = MEKA.search(relation)
    if match is None:
        raise DataError(
            path,
            Message(
                "which attributes are labels? There is no XML file in its folder and no '-C n' in "
                "its relation name; pass ",
                Parameter("xml", ...),
            ),
        )
    count, is_label = int(match.group(1)), np.zeros(len(names), dtype=bool)
    if not 0 < abs(count) < len(names):
        raise DataError(path, f"-C {count} with {len(names)} attributes")
    is_label[: max(count, 0)] = True
    is_label[len(names) + min(count, 0) :] = True
    return is_label, ()
