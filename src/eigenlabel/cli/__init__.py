"""The command line: words in, calls out, an exit code; no mathematics.

Exit codes: 0 done, 1 failed, 2 called wrongly.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from eigenlabel import __version__
from eigenlabel.cli import datasets, demo, models, runs
from eigenlabel.cli.common import Parser, UsageError, in_options


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="eigenlabel",
        description="Multi-label learning through the subspace that labels share.",
        epilog="Begin with: eigenlabel demo. 'eigenlabel COMMAND --help' explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"eigenlabel {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for part in (demo, models, runs, datasets):
        part.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a sign gets its number
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        parsed = _parser().parse_args(arguments)
        parsed.run(parsed)
        if sys.stdout is not None:  # as it is after: eigenlabel ... >&-
            sys.stdout.flush()
    except SystemExit as stop:  # argparse: help, version, or a wrong call
        return int(stop.code or 0)
    except BrokenPipeError as error:  # the reader has seen enough, as in: eigenlabel ... | head
        if error.filename is not None:  # of a FIFO that was named as the output
            print(f"eigenlabel: {error}", file=sys.stderr)
            return 1
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as stopped:
        kept = str(stopped) or "what was finished is kept"
        print(f"eigenlabel: stopped; {kept}", file=sys.stderr)
        return 1
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        wrong = isinstance(error, UsageError)  # speaks of options already
        print(f"eigenlabel: {error if wrong else in_options(str(error))}", file=sys.stderr)
        return 2 if wrong else 1
    return 0
