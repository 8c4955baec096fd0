"""Speed of the readers, against scikit-learn's LIBSVM reader and liac-arff."""

import argparse

import arff
import numpy as np
from sklearn.datasets import load_svmlight_file

from _common import data_folder, finish, interleaved
from eigenlabel.datasets import load_mulan, load_svmlight

ARFF = (
    "scene/scene-train",
    "bibtex/bibtex-train",
    "genbase/genbase",
    "genbase/genbase-train",
    "yeast/yeast",
    "enron/enron",
    "corel5k/Corel5k-test",
    "corel5k/Corel5k-train-sparse",
    "cal500/cal500",
    "birds/birds-train",
    "medical/medical",
    "emotions/emotions",
    "flags/flags",
)


def read_liac(path):
    text = path.read_text()
    sparse = "{" in text[text.lower().index("@data") :]
    return arff.loads(text, return_type=arff.LOD if sparse else arff.DENSE)


def main(quick):
    folder = data_folder()
    svm = folder / "yahoo" / "Education.svm.gz"
    if not svm.is_file():
        raise SystemExit(f"{svm} is not there: set EIGENLABEL_DATA to the folder of data sets.")
    cases = {
        "LIBSVM, Education (12,030 x 27,534, gzip)": (
            lambda: load_svmlight(svm),
            lambda: load_svmlight_file(str(svm), multilabel=True, zero_based=False),
            "scikit-learn",
        )
    }
    for name in ARFF[: 1 if quick else None]:
        path = folder / "mulan" / f"{name}.arff"
        cases[f"ARFF, {path.stem}"] = (
            lambda path=path: load_mulan(path),
            lambda path=path: read_liac(path),
            "liac-arff",
        )
    lines = [
        "| file | ours, seconds | other | other, seconds | other / ours |",
        "|---|---|---|---|---|",
    ]
    figures = {}
    for name, (ours, other, title) in cases.items():
        times = interleaved({"ours": ours, "other": other}, 3 if quick else 9)
        a, b = (float(np.median(times[k])) for k in ("ours", "other"))
        lines.append(f"| {name} | {a:.4f} | {title} | {b:.4f} | {b / a:.1f} |")
        figures[name] = round(b / a, 2)
    figures["wanted"] = "LIBSVM >= 0.67, ARFF >= 5 where liac-arff takes over 0.1 s"
    finish("readers", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats and files")
    main(parser.parse_args().quick)
