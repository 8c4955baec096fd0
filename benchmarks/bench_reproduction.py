"""The papers' tables that are quick to run; records of all runs go to results/papers."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from _common import data_folder, finish
from eigenlabel.reproduce import compare, get_table, read_csv

ROOT = Path(__file__).resolve().parents[1]
# What is run here; the rest takes hours, and its records are kept as far as it has been run.
RUN = {"mlls-table3": ["--methods", "ML_LS,shared-subspace"], "mddm-table1": []}


def call(*words):
    """Run a command of this package as a user would."""
    environment = {"EIGENLABEL_DATA": str(data_folder()), **os.environ}
    command = [sys.executable, *words]
    subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)


def main(quick):
    for name, words in RUN.items():
        few = ["--splits", "2"] if quick and words else []
        call("-m", "eigenlabel.cli", "reproduce", name, *words, *few)
    if not quick:
        call("tools/paper_pages.py", "--export")
    path = ROOT / "results" / "papers" / "mlls-table3.csv"
    figures = {
        f"{row.dataset} {row.metric}": [row.paper, round(row.ours, 4), row.n]
        for row in compare(get_table("mlls-table3"), read_csv(path))
        if row.method.startswith("shared-subspace") and row.dataset != "Business"
    }
    lines = ["The pages of the [papers](papers/index.md) draw and link the tables.", ""]
    finish("reproduction", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two splits")
    main(parser.parse_args().quick)
