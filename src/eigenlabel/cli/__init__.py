"""The command line: it reads options, calls the library and returns an exit code."""

import argparse
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

from eigenlabel import __version__
from eigenlabel.cli.commands import ENTRIES
from eigenlabel.cli.exit_codes import FAILURES, SUCCESS, exit_code
from eigenlabel.cli.options import Parser


def make_parser(called: Collection[str | None]) -> argparse.ArgumentParser:
    """Return the parser, with the options of the commands that are called; others have none."""
    parser = Parser(
        prog="eigenlabel",
        description="Multi-label learning through the subspace that labels share.",
        epilog="Start with: eigenlabel demo. 'eigenlabel COMMAND --help' explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"eigenlabel {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for entry in ENTRIES:
        own = commands.add_parser(entry.name, help=entry.help, description=entry.description)
        if entry.name in called:
            command = entry.load()
            own.set_defaults(run=command.run)
            command.add_options(own)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):  # characters the terminal lacks are printed as codes
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    parsed = argparse.Namespace()
    usual, warnings.formatwarning = warnings.formatwarning, _make_format()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        called = next((word for word in words if not word.startswith("-")), None)
        parsed = make_parser([called]).parse_args(words)
        parsed.run(parsed)
        if sys.stdout is not None:  # it is None after: eigenlabel ... >&-
            sys.stdout.flush()
    except (SystemExit, KeyboardInterrupt, *FAILURES) as error:
        return exit_code(error, parsed)
    finally:
        warnings.formatwarning = usual
    return SUCCESS


def _make_format() -> Callable[..., str]:
    """Return a function that formats a warning, or returns nothing if it has been printed before.

    The line does not have the place in the code, where Python finds out what it has printed. A
    search over parameters may raise the same warning for each of them.
    """
    printed = set[str]()

    def form(message: Warning | str, *_: Any, **__: Any) -> str:
        line = f"eigenlabel: warning: {message}\n"
        if line in printed:
            return ""
        printed.add(line)
        return line

    return form
