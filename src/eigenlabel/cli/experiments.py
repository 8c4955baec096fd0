"""What ``compare`` and ``reproduce`` share: options, runs and records, and failures."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eigenlabel.cli.options import positive
from eigenlabel.cli.tables import FORMS
from eigenlabel.datasets import DataError
from eigenlabel.experiment import Protocol, plan, read_records, run


def add_running_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that run experiments."""
    parser.add_argument(
        "--workers", type=positive, default=1, metavar="N", help="number of processes (default 1)"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--dry-run", action="store_true", help="print the plan and its cost")
    instead.add_argument(
        "--so-far", action="store_true", help="run nothing, and show the runs recorded so far"
    )
    parser.add_argument(
        "--format", choices=FORMS, default="text", help="format of printed tables (default text)"
    )
    parser.add_argument("--report", metavar="PAGE", help="write an HTML page to this file")


def get_records(
    protocol: Protocol, folder: str, arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """Run what is not recorded yet and return all records; with ``--so-far``, run nothing."""
    if not arguments.so_far:
        return run(protocol, folder, workers=arguments.workers)
    if not Path(folder).is_dir():
        raise DataError(folder, "no such folder: nothing is recorded yet")
    tasks = plan(protocol, folder).tasks
    last = {record["key"]: record for record in read_records(folder)}
    records = [last[task.key] for task in tasks if task.key in last]
    if not records:
        raise DataError(folder, "none of these runs is recorded in it")
    print(f"{len(records)} of {len(tasks)} runs are recorded.", file=sys.stderr)
    return records


def check_failures(records: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValueError if a run failed, with the first error."""
    failed = [r for r in records if "error" in r]
    if failed:
        first = failed[0]
        raise ValueError(
            f"{len(failed)} of {len(records)} runs failed; the first: {first['method']} on "
            f"{first['data']}, split {first['split']}: {first['error']}"
        )
