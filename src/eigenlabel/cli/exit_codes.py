"""Exit codes: 0 for success, 1 for a failure, 2 for a wrong call; and what is printed with them."""

import argparse
import os
import sys

from eigenlabel.cli.options import UsageError

SUCCESS, FAILURE, WRONG_CALL = 0, 1, 2
# The errors that the command line reports in one line. Any other one is a defect of the library.
FAILURES = (ValueError, TypeError, OSError, MemoryError, ImportError)


def exit_code(error: BaseException, arguments: argparse.Namespace) -> int:
    """Print what ended a command, to standard error, and return the exit code."""
    if isinstance(error, SystemExit):  # argparse stops after --help, --version and wrong options
        return int(error.code or SUCCESS)
    if isinstance(error, BrokenPipeError):
        return _end_of_pipe(error)
    if isinstance(error, KeyboardInterrupt):
        kept = str(error) or "finished work is kept"
        print(f"eigenlabel: stopped; {kept}", file=sys.stderr)
        return FAILURE
    from eigenlabel.cli.messages import describe  # noqa: PLC0415 - --help is quick without it

    print(f"eigenlabel: {describe(error, arguments)}", file=sys.stderr)
    return WRONG_CALL if isinstance(error, UsageError) else FAILURE


def _end_of_pipe(error: BrokenPipeError) -> int:
    """Return the exit code after the reader of a pipe has closed it."""
    if error.filename is not None:  # a named pipe that is the output file
        print(f"eigenlabel: {error}", file=sys.stderr)
    else:  # standard output, for instance in: eigenlabel ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILURE
