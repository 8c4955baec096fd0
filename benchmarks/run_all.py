"""Run every benchmark; rewrite docs/benchmarks.md and the files of results/."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
RESULTS = HERE.parent / "results" / "benchmarks"
HEAD = """# Benchmarks

Written by `make bench` on {cores} cores; do not edit. Each part is one script of `benchmarks/`,
which prints the same table and a closing `RESULT` line; these lines are in `results/benchmarks`.
`python benchmarks/run_all.py --only readers,speed` renews parts alone. Not run yet: {missing}.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="short runs; the docs stay as they are"
    )
    parser.add_argument("--only", metavar="A,B,...", help="these parts, such as readers,speed")
    given = parser.parse_args()
    quick = given.quick
    scripts = {script.stem: script for script in sorted(HERE.glob("bench_*.py"))}
    wanted = [f"bench_{name}" for name in given.only.split(",")] if given.only else list(scripts)
    unknown = [name for name in wanted if name not in scripts]
    if unknown:
        parser.error(f"no {unknown[0]}.py; there are: {', '.join(scripts)}")
    parts = _parts(DOCS / "benchmarks.md")
    for script in (scripts[name] for name in wanted):
        print(f"== {script.name}", flush=True)
        command = [sys.executable, str(script), *(["--quick"] if quick else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, flush=True)
        if done.returncode:
            print(f"{script.name} failed with exit code {done.returncode}", file=sys.stderr)
            return 1
        table, _, result = done.stdout.rpartition("RESULT ")
        first = script.read_text().split('"""')[1].strip()
        if not quick:
            RESULTS.mkdir(parents=True, exist_ok=True)
            (RESULTS / f"{script.stem[6:]}.json").write_text(result.strip() + "\n")
        parts[script.stem] = f"{first}\n\n{table.strip()}"
    if not quick:
        _write(
            DOCS / "benchmarks.md",
            {name: parts[name] for name in scripts if name in parts},
            scripts,
        )
    return 0


def _parts(path: Path) -> dict[str, str]:
    """Return the parts of the page as it is, by script."""
    found = (part.partition("\n") for part in path.read_text().split("\n## ")[1:])
    return {name: text.strip() for name, _, text in found}


def _write(path: Path, parts: dict[str, str], scripts: Iterable[str]) -> None:
    missing = ", ".join(name for name in scripts if name not in parts) or "none"
    head = HEAD.format(cores=os.cpu_count(), missing=missing)
    path.write_text(head + "".join(f"\n## {name}\n\n{text}\n" for name, text in parts.items()))


if __name__ == "__main__":
    sys.exit(main())
