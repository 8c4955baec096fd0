"""Whether a better label matrix, or a dimension tuned for the classifier, helps MDDM.

The 11 Yahoo sets of 2000 training and 3000 test pages, ML-kNN on the projected features; Wilcoxon's
signed-rank test over the sets against MDDM_p as published, with Holm's correction over the rows.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline

from _common import data_folder, finish
from eigenlabel import MDDM, MLkNN, ProjectedClassifierCV
from eigenlabel.comparison import collect, compare_pair, holm
from eigenlabel.experiment import Method, Protocol, Splits, run
from eigenlabel.metrics import METRICS
from eigenlabel.reproduce import get_table

SHOWN = ("average_precision", "hamming_loss", "f1_micro")
FOLDER = Path(__file__).resolve().parents[1] / "runs" / "label-kernels"
BASE = "B = I"


def methods():
    kernels = {BASE: "linear", **{k: k for k in ("rbf_unit", "cosine", "conditional", "shrunk")}}
    found = [Method(n, make_pipeline(MDDM(label_kernel=k), MLkNN())) for n, k in kernels.items()]
    uncorrelated = MDDM(projection="uncorrelated")
    return [
        *found,
        Method("MDDM_f, B = I", make_pipeline(uncorrelated, MLkNN())),
        Method("tuned dimension", ProjectedClassifierCV(MLkNN(), MDDM())),
        Method("MDDM_f, tuned dimension", ProjectedClassifierCV(MLkNN(), uncorrelated)),
    ]


def main(quick):
    os.environ.setdefault("EIGENLABEL_DATA", str(data_folder()))
    data = [d for group in get_table("mddm-table1").data.values() for d in group]
    protocol = Protocol(
        data[:3] if quick else data, methods(), Splits("published", 1), SHOWN, name="label-kernels"
    )
    records = run(protocol, FOLDER)
    lines, figures = [], {}
    for metric in SHOWN:
        found = collect(records, metric)
        values = {
            m.name: np.array([found[d.name][m.name][0] for d in protocol.data])
            for m in protocol.methods
        }
        greater = METRICS[metric].greater_is_better
        pairs = {
            name: compare_pair(v, values[BASE], greater_is_better=greater)
            for name, v in values.items()
            if name != BASE
        }
        adjusted = dict(zip(pairs, holm([p.wilcoxon for p in pairs.values()]), strict=True))
        lines += [
            metric,
            "",
            f"| label matrix | mean | won / tied / lost against {BASE} | p | p (Holm) |",
            "|---|---|---|---|---|",
            f"| {BASE} | {values[BASE].mean():.4f} | | | |",
        ]
        for name, pair in pairs.items():
            counts = f"{pair.wins} / {pair.ties} / {pair.losses}"
            p = f"{pair.wilcoxon:.3g} | {adjusted[name]:.3g}"
            lines.append(f"| {name} | {values[name].mean():.4f} | {counts} | {p} |")
            figures[f"{name} {metric}"] = round(float(values[name].mean()), 4)
        lines.append("")
    finish("label_kernels", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three sets")
    main(parser.parse_args().quick)
