"""Run every benchmark and write its figures and tables to results/benchmarks.

NAME.json has the figures of ``bench_NAME.py``, NAME.csv, NAME-2.csv, ... have the tables that it
prints. The page docs/benchmarks.md is prose that draws and quotes these files, so it is up to date
as soon as the site is built again.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from _tables import write_tables

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short runs; nothing is written")
    parser.add_argument("--only", metavar="A,B,...", help="these benchmarks, such as readers,speed")
    given = parser.parse_args()
    scripts = {script.stem[6:]: script for script in sorted(HERE.glob("bench_*.py"))}
    wanted = given.only.split(",") if given.only else list(scripts)
    unknown = [name for name in wanted if name not in scripts]
    if unknown:
        parser.error(f"no bench_{unknown[0]}.py; there are: {', '.join(scripts)}")
    for name in wanted:
        print(f"== {scripts[name].name}", flush=True)
        if given.quick and "--quick" not in scripts[name].read_text():
            print("has no short run", flush=True)
            continue
        command = [sys.executable, str(scripts[name]), *(["--quick"] if given.quick else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, flush=True)
        if done.returncode:
            print(f"{name} failed with exit code {done.returncode}", file=sys.stderr)
            return 1
        if not given.quick:
            _keep(name, done.stdout)
    return 0


def _keep(name: str, printed: str) -> None:
    """Write the tables and the closing RESULT line of a benchmark."""
    tables, _, result = printed.rpartition("RESULT ")
    folder = HERE.parent / "results" / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(result.strip() + "\n")
    write_tables(name, tables, folder)


if __name__ == "__main__":
    sys.exit(main())
