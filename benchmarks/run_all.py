"""Run every benchmark and rewrite docs/benchmarks.md and the figures of docs/reproduction.md."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
HEAD = """# Benchmarks

Written by `make bench` on {cores} cores; do not edit. Each part is one script of `benchmarks/`,
which prints the same table and a closing `RESULT` line.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="short runs; the docs stay as they are"
    )
    quick = parser.parse_args().quick
    parts = [HEAD.format(cores=os.cpu_count())]
    for script in sorted(HERE.glob("bench_*.py")):
        print(f"== {script.name}", flush=True)
        command = [sys.executable, str(script), *(["--quick"] if quick else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, flush=True)
        if done.returncode:
            print(f"{script.name} failed with exit code {done.returncode}", file=sys.stderr)
            return 1
        table, _, result = done.stdout.rpartition("RESULT ")
        first = script.read_text().split('"""')[1].strip()
        if script.stem == "bench_reproduction":
            if not quick:
                _replace_block(DOCS / "reproduction.md", table.strip())
            table = "In [reproduction](reproduction.md)."
        parts.append(
            f"\n## {script.stem}\n\n{first}\n\n{table.strip()}\n\n```json\n{result.strip()}\n```\n"
        )
    if not quick:
        (DOCS / "benchmarks.md").write_text("".join(parts))
    return 0


def _replace_block(path: Path, text: str) -> None:
    """Put the table between the markers of a page."""
    begin, end = "<!-- begin bench_reproduction -->", "<!-- end bench_reproduction -->"
    before, _, rest = path.read_text().partition(begin)
    after = rest.partition(end)[2]
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}")


if __name__ == "__main__":
    sys.exit(main())
