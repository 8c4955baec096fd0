"""The papers' tables that can be made, paper against ours; records stay in runs/."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from _common import data_folder, finish
from eigenlabel.experiment import read_records
from eigenlabel.reproduce import compare, get_table

ROOT = Path(__file__).resolve().parents[1]
TABLES = ("mlls-table2", "mlls-table3", "mlls-table5", "mddm-table1")


def reproduce(name, words):
    """Call the command as a user would, and give the Markdown that it prints."""
    environment = {"EIGENLABEL_DATA": str(data_folder()), **os.environ}
    command = [sys.executable, "-m", "eigenlabel.cli", "reproduce", name, "--format", "markdown"]
    done = subprocess.run(
        [*command, *words], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


def main(quick):
    words = ["--splits", "2", "--methods", "ML_LS,shared-subspace"] if quick else []
    lines, figures = [], {}
    for name in TABLES:
        narrow = words if name in ("mlls-table3", "mlls-table5") else []
        lines += [f"### {name}", "", reproduce(name, narrow), ""]
    rows = compare(get_table("mlls-table3"), read_records(ROOT / "runs" / "mlls-table3"))
    for row in rows:
        if row.method.startswith("shared-subspace") and row.dataset != "Business":
            figures[f"{row.dataset} {row.metric}"] = [row.paper, round(row.ours, 4), row.n]
    finish("reproduction", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two splits, two methods")
    main(parser.parse_args().quick)
