"""Errors and notes in the words of the command line: options in place of Python parameters."""

import argparse
import shlex
import sys
from collections.abc import Iterable
from typing import TextIO

from eigenlabel.cli.data_files import READER_OPTIONS
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.inputs.parameters import ParameterError


def as_option(parameter: Parameter) -> str:
    """Return a parameter of a reader as an option of the command line.

    The commands pass the saved model as ``like``.
    """
    if parameter.name == "like":
        return "the model"
    if parameter.name not in READER_OPTIONS:
        return str(parameter)
    option, value = f"--{parameter.name.replace('_', '-')}", parameter.value
    if value is None or value is ... or value is True:
        return option
    return f"{option} {shlex.quote(value if isinstance(value, str) else ','.join(value))}"


def render(message: str) -> str:
    """Return a message with options in place of parameters."""
    return message.render(as_option) if isinstance(message, Message) else message


def describe(error: BaseException, arguments: argparse.Namespace) -> str:
    """Return the text of an error, with the options that the user passed in place of parameters."""
    if isinstance(error, ParameterError):
        return f"{_option(error.name, arguments)} {error.problem}"
    first = error.args[0] if error.args else None
    return render(first) if isinstance(first, Message) else str(error)


def _option(name: str, arguments: argparse.Namespace) -> str:
    """Return the option that set a parameter, or the parameter's name if no option did."""
    if name in getattr(arguments, "given", {}):
        return str(arguments.given[name])
    settings = [setting.partition("=")[0] for setting in getattr(arguments, "set", ())]
    return f"--set {name}" if name in settings else name


def print_notes(notes: Iterable[str], source: str = "", stream: TextIO | None = None) -> None:
    """Print the notes of a reader, to standard error unless another stream is passed.

    ``source`` names the file if a command reads several.
    """
    for note in notes:
        where = f"{source}: " if source else ""
        print(f"note: {where}{render(note)}", file=sys.stderr if stream is None else stream)
