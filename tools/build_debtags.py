"""Build the embedded debtags data from a Debian package index.

    apt-get update && apt-cache dumpavail | python tools/build_debtags.py --release "Debian 12" -
    python tools/build_debtags.py --release "Debian 12" Packages.xz

Only facts are kept: package names, tags, and the words, dependencies and section of each package.
Words are in alphabetical order, so that no sentence can be reconstructed. Equal indexes produce
equal bytes.
"""

import argparse
import bz2
import gzip
import hashlib
import lzma
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets import Dataset, save_npz

TARGET = Path(__file__).resolve().parents[1] / "src/eigenlabel/datasets/debtags.npz"
WORD = re.compile(r"[a-z0-9][a-z0-9+#]*")
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


def open_index(path: str) -> TextIO:
    """Return a package index as a text stream; "-" is standard input.

    The suffix of the file determines its compression.
    """
    if path == "-":
        return sys.stdin
    suffix = Path(path).suffix
    if suffix == ".lz4":
        try:
            import lz4.frame  # noqa: PLC0415  needed for this format only
        except ImportError:
            raise SystemExit("reading .lz4 needs: pip install lz4") from None
        opened = lz4.frame.open
    else:
        opened = OPENERS.get(suffix, open)
    stream: TextIO = opened(path, "rt", encoding="utf-8")
    return stream


def stanzas(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the fields of each package; continued lines are joined by spaces."""
    fields: dict[str, str] = {}
    name = ""
    for line in lines:
        if line[0] in " \t" and line.strip():
            fields[name] += " " + line.strip()
        elif ":" in line:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        elif fields:
            yield fields
            fields = {}
    if fields:
        yield fields


def tags(fields: dict[str, str]) -> list[str]:
    """Return the tags, without those that mean "not tagged yet"."""
    found = (t.strip() for t in fields.get("Tag", "").split(","))
    return sorted({t for t in found if "::" in t and not re.search(r"::TODO$|^special::", t)})


def words(fields: dict[str, str]) -> Counter[str]:
    """Return the counts of words in the name and the short description."""
    text = f"{fields['Package']} {fields.get('Description', '')}".lower()
    return Counter(w for w in WORD.findall(text) if len(w) > 1 and not w.isdigit())


def dependencies(fields: dict[str, str]) -> Counter[str]:
    """Return the packages that a package depends on, each with count 1, with alternatives."""
    text = f"{fields.get('Pre-Depends', '')},{fields.get('Depends', '')}"
    names = (re.split(r"[\s(:\[]", part.strip())[0] for part in re.split(r"[,|]", text))
    return Counter(sorted({name for name in names if name}))


def section(fields: dict[str, str]) -> Counter[str]:
    """Return the section of a package, without the archive area, with count 1."""
    return Counter([fields["Section"].rpartition("/")[2]] if fields.get("Section") else [])


def count_matrix(counts: list[Counter[str]], least: int) -> tuple[sp.csr_array, list[str]]:
    """Return a matrix of counts, with a column for each key that ``least`` packages have."""
    documents = Counter(key for row in counts for key in row)
    names = sorted(key for key, n in documents.items() if n >= least)
    column = {key: j for j, key in enumerate(names)}
    indices, data, ends = [], [], [0]
    for row in counts:
        kept = sorted((column[key], n) for key, n in row.items() if key in column)
        indices += [j for j, _ in kept]
        data += [min(n, 255) for _, n in kept]
        ends.append(len(indices))
    shape = (len(counts), len(names))
    matrix = sp.csr_array((np.array(data, dtype=np.uint8), indices, ends), shape=shape)
    return matrix, names


def source(fields: dict[str, str]) -> str:
    """Return the name of the source package."""
    return fields.get("Source", fields["Package"]).split()[0]


def build(lines: Iterable[str], release: str, least: int = 3) -> Dataset:
    """Return the data of an index: one row for each package with tags, ordered by name."""
    packages: dict[str, dict[str, str]] = {}
    for fields in stanzas(lines):
        if tags(fields):
            packages.setdefault(fields["Package"], fields)
    rows = [packages[name] for name in sorted(packages)]
    if not rows:
        raise SystemExit("No package has a Tag: field. Run 'apt-get update' first.")
    Y, label_names = count_matrix([Counter(tags(fields)) for fields in rows], 1)
    blocks, views = [], {}
    names: list[str] = []
    for view, count in (("words", words), ("depends", dependencies), ("section", section)):
        block, columns = count_matrix([count(fields) for fields in rows], least)
        views[view] = slice(len(names), len(names) + len(columns))
        blocks.append(block)
        names += [f"{view}:{column}" for column in columns]
    digests = [hashlib.sha256(source(fields).encode()).digest() for fields in rows]
    test = np.array([digest[0] % 3 == 0 for digest in digests])
    return Dataset(
        X=sp.csr_array(sp.hstack(blocks)),
        Y=Y.astype(np.int8),
        feature_names=np.array(names),
        label_names=np.array(label_names),
        sample_names=np.array([fields["Package"] for fields in rows]),
        views=views,
        splits={"by source": (np.flatnonzero(~test), np.flatnonzero(test))},
        source=f"{release} packages and their debtags",
        notes=("packages of one source package are on one side of the split",),
    )


def main() -> None:
    """Read a package index and write the data."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("index", help="Packages[.gz|.xz|.bz2|.lz4], or - for apt-cache dumpavail")
    parser.add_argument("--release", required=True, help='name of the release, such as "Debian 12"')
    parser.add_argument("--output", type=Path, default=TARGET, help="the file to write")
    arguments = parser.parse_args()
    with open_index(arguments.index) as lines:
        data = build(lines, arguments.release)
    save_npz(data, arguments.output)
    size = arguments.output.stat().st_size
    print(f"{data!r}, {data.Y.sum()} tags, {size / 2**20:.2f} MiB in {arguments.output}")


if __name__ == "__main__":
    main()
