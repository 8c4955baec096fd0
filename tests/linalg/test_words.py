"""Linear algebra speaks of targets, columns and combinations."""

import re
from pathlib import Path

import eigenlabel.linalg

ROOT = Path(eigenlabel.linalg.__file__).parent


def test_the_word_label_does_not_occur():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(ROOT.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"(?<!eigen)label", line, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)
