"""Model files for tests: their content, and changes to it."""

import io
import json
import zipfile

import numpy as np

from eigenlabel import __version__
from eigenlabel.persistence.models import FORM


def content(**changes):
    """Return the content of a model file; a part whose value is None is removed."""
    whole = {
        "eigenlabel": FORM,
        "version": __version__,
        "model": 0,
        "feature_names": np.array(["a", "b"]),
        "label_names": np.array(["x"]),
        "categories": {"a": ["u", "v"]},
        "views": {"text": [0, 2]},
        "options": {"text": "t"},
        "about": {"samples": 3},
        "column_types": {"a": "category"},
        "words": {"t": [0, 1]},
    }
    return {k: v for k, v in (whole | changes).items() if v is not None}


def edit(path, change):
    """Let a function change the schema of a model file and its other members."""
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members["schema.json"])
    change(schema, members)
    members["schema.json"] = json.dumps(schema).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
