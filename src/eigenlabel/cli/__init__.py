"""The command line: it reads options, calls the library and returns an exit code.

The exit codes are 0 for success, 1 for a failure and 2 for a wrong call.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from eigenlabel import __version__
from eigenlabel.cli import (
    audit,
    compare,
    datasets,
    demo,
    explain,
    fit_and_predict,
    report,
    reproduce,
)
from eigenlabel.cli.messages import describe
from eigenlabel.cli.options import Parser, UsageError

COMMANDS = (
    demo.DEMO,
    fit_and_predict.FIT,
    fit_and_predict.TUNE,
    fit_and_predict.PREDICT,
    fit_and_predict.EVALUATE,
    explain.EXPLAIN,
    audit.AUDIT,
    compare.COMPARE,
    reproduce.REPRODUCE,
    report.REPORT,
    datasets.DATASETS,
)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser, with the options of the command that the words call."""
    parser = Parser(
        prog="eigenlabel",
        description="Multi-label learning through the subspace that labels share.",
        epilog="Start with: eigenlabel demo. 'eigenlabel COMMAND --help' explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"eigenlabel {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    called = next((word for word in words if not word.startswith("-")), None)
    for command in COMMANDS:
        own = commands.add_parser(command.name, help=command.help, description=command.description)
        own.set_defaults(run=command.run)
        if command.name == called:
            command.add_options(own)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):  # characters the terminal lacks are printed as codes
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    parsed = argparse.Namespace()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        parsed = _parser(words).parse_args(words)
        parsed.run(parsed)
        if sys.stdout is not None:  # it is None after: eigenlabel ... >&-
            sys.stdout.flush()
    except SystemExit as stop:  # argparse stops after --help, --version and wrong options
        return int(stop.code or 0)
    except BrokenPipeError as error:
        return _end_of_pipe(error)
    except KeyboardInterrupt as stopped:
        kept = str(stopped) or "finished work is kept"
        print(f"eigenlabel: stopped; {kept}", file=sys.stderr)
        return 1
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        print(f"eigenlabel: {describe(error, parsed)}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _end_of_pipe(error: BrokenPipeError) -> int:
    """Return the exit code after the reader of a pipe has closed it."""
    if error.filename is not None:  # a named pipe that is the output file
        print(f"eigenlabel: {error}", file=sys.stderr)
    else:  # standard output, for instance in: eigenlabel ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
