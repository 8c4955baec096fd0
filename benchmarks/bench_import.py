"""Time to import the package, beside scikit-learn's linear models.

Names are imported when they are first used. Processor time of new processes, interleaved, medians
of the ratio.
"""

import argparse
import resource
import subprocess
import sys

import numpy as np

from _common import finish, interleaved

BASE = "import sklearn.linear_model"
IMPORTS = (
    BASE,
    "import eigenlabel",
    "from eigenlabel import SharedSubspaceClassifierCV",
    "from eigenlabel import *",
)


def child_time():
    """Return the processor time of all processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(statement):
    subprocess.run([sys.executable, "-c", statement], check=True)


def main(quick):
    functions = {statement: lambda s=statement: run(s) for statement in IMPORTS}
    times = interleaved(functions, 3 if quick else 7, child_time)
    ratio = {name: float(np.median(t / times[BASE])) for name, t in times.items()}
    lines = [
        "| statement | seconds | ratio |",
        "|---|---|---|",
        *(f"| `{name}` | {np.median(t):.2f} | {ratio[name]:.2f} |" for name, t in times.items()),
    ]
    figures = {"import_per_linear_model": ratio["import eigenlabel"]}
    finish("import", {**figures, "wanted": "import eigenlabel <= 1.3"}, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    main(parser.parse_args().quick)
