"""``eigenlabel completion``: scripts that complete commands, options, values and file names.

The scripts are made from the parser of the command line, so that they know what it knows. They are
static: completing a word starts no Python.
"""

import argparse
import re
from collections.abc import Iterator
from typing import NamedTuple

from eigenlabel.cli.options import Command, suggestions

FILES = ("CSV", "DATA", "FILE", "FOLDER", "FOLDER|MODEL", "MODEL", "PAGE", "PLOT")  # metavars
SAFE = re.compile(r"[\w.+:/=-]+")  # words that need no quotes in any shell
LONGEST = 72  # characters of a help text


class Slot(NamedTuple):
    """An option or an argument of a command.

    Attributes
    ----------
    flags : tuple of str
        The names of an option; none for an argument.
    value : str
        The name of its value; empty for a flag.
    words : tuple of str
        The values that are known.
    files : bool
        Whether its value is a file or folder.
    many : bool
        Whether it has any number of values.
    help : str
        What it does, in a few words.
    """

    flags: tuple[str, ...]
    value: str
    words: tuple[str, ...]
    files: bool
    many: bool
    help: str


class Completions(NamedTuple):
    """What can follow a command.

    Attributes
    ----------
    path : tuple of str
        The words of the command; none for the program itself.
    commands : dict of str to str
        The commands below it, and their help.
    options : tuple of Slot
        Its options.
    arguments : tuple of Slot
        Its arguments.
    """

    path: tuple[str, ...]
    commands: dict[str, str]
    options: tuple[Slot, ...]
    arguments: tuple[Slot, ...]

    @property
    def known(self) -> tuple[str, ...]:
        """All values of its arguments that are known."""
        return tuple(word for slot in self.arguments for word in slot.words)

    @property
    def files(self) -> bool:
        """Whether an argument is a file."""
        return any(slot.files for slot in self.arguments)


def read_parser(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[Completions]:
    """Yield what can follow each command of a parser, the program itself first."""
    options, arguments, commands = [], [], {}
    below: list[Iterator[Completions]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands = {one.dest: _short(one.help) for one in action._choices_actions}
            below = [read_parser(one, (*path, name)) for name, one in action.choices.items()]
        elif action.option_strings:
            options.append(_slot(action))
        else:
            arguments.append(_slot(action))
    yield Completions(path, commands, tuple(options), tuple(arguments))
    for one in below:
        yield from one


def _slot(action: argparse.Action) -> Slot:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest)
    known = tuple(word for word in suggestions(action) if SAFE.fullmatch(word))
    flags, many = tuple(action.option_strings), action.nargs in ("*", "+")
    known = known if value else ()
    return Slot(flags, value, known, value in FILES, many, _short(action.help))


def _short(text: str | None) -> str:
    """Return the beginning of a help text, without what shells read as syntax."""
    plain = (text or "").replace("%%", "%").replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
    plain = re.sub(r"[\[\]\"`$\\]", "", plain)
    first = re.split(r"[;:(]", plain)[0].strip()
    return first if len(first) <= LONGEST else first[: LONGEST - 1].rsplit(" ", 1)[0] + "…"


# bash

BASH = """# bash completion of eigenlabel; load it with: source <(eigenlabel completion bash)
_eigenlabel_files() {{
    compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "$1"))
}}

_eigenlabel() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" called="" i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$called ${{COMP_WORDS[i]}}" in
{paths}
        esac
    done
    case "$called" in
{cases}
    esac
}}

complete -F _eigenlabel eigenlabel
"""


def bash(every: list[Completions]) -> str:
    """Return the script for bash."""
    named = [" ".join(one.path) for one in every if one.path]
    paths = [
        f'            "{path.rpartition(" ")[0]} {path.split()[-1]}") called="{path}" ;;'
        for path in named
    ]
    return BASH.format(paths="\n".join(paths), cases="\n".join(map(_bash_case, every)))


def _bash_case(one: Completions) -> str:
    lines = [f'        "{" ".join(one.path)}")', '            case "$prev" in']
    for slot in one.options:
        if slot.value:
            lines.append(f"                {'|'.join(slot.flags)}) {_bash_value(slot)} return ;;")
    flags = " ".join(flag for slot in one.options for flag in slot.flags)
    words = " ".join([*one.commands, *one.known])
    lines += [
        "            esac",
        '            if [[ "$cur" == -* ]]; then',
        f'                COMPREPLY=($(compgen -W "{flags}" -- "$cur"))',
        "            else",
        f'                COMPREPLY=($(compgen -W "{words}" -- "$cur"))',
    ]
    if one.files:
        lines.append('                [[ ${#COMPREPLY[@]} -gt 0 ]] || _eigenlabel_files "$cur"')
    return "\n".join([*lines, "            fi", "            ;;"])


def _bash_value(slot: Slot) -> str:
    if slot.words:
        return f'COMPREPLY=($(compgen -W "{" ".join(slot.words)}" -- "$cur"));'
    return '_eigenlabel_files "$cur";' if slot.files else ""


# zsh

ZSH = """#compdef eigenlabel
# zsh completion of eigenlabel; load it after compinit: source <(eigenlabel completion zsh)
{functions}

if [ "$funcstack[1]" = "_eigenlabel" ]; then
    _eigenlabel "$@"
else
    compdef _eigenlabel eigenlabel
fi
"""


def zsh(every: list[Completions]) -> str:
    """Return the script for zsh."""
    return ZSH.format(functions="\n\n".join(map(_zsh_function, every)))


def _zsh_name(path: tuple[str, ...]) -> str:
    return "_".join(["_eigenlabel", *path])


def _zsh_function(one: Completions) -> str:
    options = [_zsh_option(slot) for slot in one.options]
    if not one.commands:
        slots = [_zsh_argument(k, slot) for k, slot in enumerate(one.arguments, start=1)]
        lines = [*options, *slots]
        return (
            f"{_zsh_name(one.path)}() {{\n    _arguments -s"
            + "".join(f" \\\n        {line}" for line in lines)
            + "\n}"
        )
    listed = "\n".join(f"        '{_zsh_text(k)}:{_zsh_text(v)}'" for k, v in one.commands.items())
    calls = "\n".join(
        f"            {name}) {_zsh_name((*one.path, name))} ;;" for name in one.commands
    )
    return f"""{_zsh_name(one.path)}() {{
    local state
    local -a commands
    commands=(
{listed}
    )
    _arguments -C {" ".join(options)} '1: :->command' '*:: :->rest'
    case $state in
    command) _describe -t commands command commands ;;
    rest)
        case $words[1] in
{calls}
        esac
        ;;
    esac
}}"""


def _zsh_text(text: str) -> str:
    return text.replace(":", "\\:")


def _zsh_option(slot: Slot) -> str:
    value = f":{_zsh_text(slot.value)}:{_zsh_values(slot)}" if slot.value else ""
    tail = f"'[{_zsh_text(slot.help)}]{value}'"
    if len(slot.flags) == 1:
        return f"'{slot.flags[0]}'{tail}"
    return f"'({' '.join(slot.flags)})'{{{','.join(slot.flags)}}}{tail}"


def _zsh_argument(place: int, slot: Slot) -> str:
    where = "*" if slot.many else str(place)
    return f"'{where}:{_zsh_text(slot.value)}:{_zsh_values(slot)}'"


def _zsh_values(slot: Slot) -> str:
    if slot.words:
        return f"({' '.join(map(_zsh_text, slot.words))})"
    return "_files" if slot.files else " "


# fish


def fish(every: list[Completions]) -> str:
    """Return the script for fish."""
    lines = ["# fish completion of eigenlabel; load it with: eigenlabel completion fish | source"]
    lines.append("complete -c eigenlabel -f")
    for one in every:
        condition = _fish_condition(one)
        for name, about in one.commands.items():
            lines.append(f"complete -c eigenlabel {condition} -a {name} -d '{about}'")
        for slot in one.options:
            names = " ".join(_fish_flag(flag) for flag in slot.flags)
            lines.append(
                f"complete -c eigenlabel {condition} {names}{_fish_value(slot)} -d '{slot.help}'"
            )
        if one.known:
            lines.append(f"complete -c eigenlabel {condition} -a '{' '.join(one.known)}'")
        if one.files:
            lines.append(f"complete -c eigenlabel {condition} -F")
    return "\n".join([*lines, ""])


def _fish_condition(one: Completions) -> str:
    if not one.path:
        return "-n __fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in one.path)
    if one.commands:
        seen += f"; and not __fish_seen_subcommand_from {' '.join(one.commands)}"
    return f"-n '{seen}'"


def _fish_flag(flag: str) -> str:
    return f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"


def _fish_value(slot: Slot) -> str:
    if not slot.value:
        return ""
    if slot.words:
        return f" -x -a '{' '.join(slot.words)}'"
    return " -r -F" if slot.files else " -x"


SHELLS = {"bash": bash, "fish": fish, "zsh": zsh}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(SHELLS), help="the shell")


def _completion(arguments: argparse.Namespace) -> None:
    from eigenlabel.cli import make_parser  # noqa: PLC0415 - it imports this module
    from eigenlabel.cli.commands import ENTRIES  # noqa: PLC0415

    parser = make_parser([entry.name for entry in ENTRIES])
    print(SHELLS[arguments.shell](list(read_parser(parser))), end="")


COMPLETION = Command(_add_options, _completion)
