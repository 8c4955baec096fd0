"""The papers' tables that can be made, paper against ours; records stay in runs/."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from _common import data_folder, finish
from eigenlabel.experiment import read_records
from eigenlabel.reproduce import CONTESTS, FIGURES, TABLES, compare, get_table

ROOT = Path(__file__).resolve().parents[1]
# What is run here; the rest takes hours and is tabulated as far as it has been run by hand.
RUN = {"mlls-table3": ["--methods", "ML_LS,shared-subspace"], "mddm-table1": []}


def reproduce(name, *words):
    """Call the command as a user would, and give the Markdown that it prints, or None."""
    environment = {"EIGENLABEL_DATA": str(data_folder()), **os.environ}
    command = [sys.executable, "-m", "eigenlabel.cli", "reproduce", name, "--format", "markdown"]
    call = [*command, *words]
    done = subprocess.run(
        call, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else None


def tabulate(names):
    """Return the Markdown of every table that has records, and the names of the others."""
    lines, others = [], []
    for name in names:
        printed = reproduce(name, "--so-far")
        if printed is None:
            others.append(name)
        else:
            lines += [f"### {name}", "", printed, ""]
    return lines, others


def main(quick):
    for name, words in RUN.items():
        reproduce(name, *words, *(["--splits", "2"] if quick and "--methods" in words else []))
    every = (*TABLES.values(), *CONTESTS.values(), *FIGURES.values())
    lines, others = tabulate([table.name for table in every if table.data])
    if others:
        lines += ["Not run yet: " + ", ".join(others) + ".", ""]
    figures = {}
    rows = compare(get_table("mlls-table3"), read_records(ROOT / "runs" / "mlls-table3"))
    for row in rows:
        if row.method.startswith("shared-subspace") and row.dataset != "Business":
            figures[f"{row.dataset} {row.metric}"] = [row.paper, round(row.ours, 4), row.n]
    finish("reproduction", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two splits")
    main(parser.parse_args().quick)
