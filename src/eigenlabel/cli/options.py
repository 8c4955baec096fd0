"""The argument parser, and the values of options."""

import argparse
import ast
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from eigenlabel.thresholds import RiskControl


class Command(NamedTuple):
    """A command: the function that adds its options, and the one that it runs."""

    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]


def suggest(action: argparse.Action, words: Iterable[str]) -> None:
    """Set words that a shell completes for an option or argument that accepts others too."""
    vars(action)["suggested"] = tuple(words)


def suggestions(action: argparse.Action) -> tuple[str, ...]:
    """Return the words that a shell completes: the choices, or what :func:`suggest` set."""
    if action.choices is not None:
        return tuple(map(str, action.choices))
    return tuple(vars(action).get("suggested", ()))


class UsageError(ValueError):
    """The command is called wrongly, whatever its files contain."""


class _Once(argparse.Action):
    """An option that may be passed only once.

    argparse would keep the second value and drop the first one silently. The name of each option
    that is passed is kept in ``namespace.given``, so that messages can use it.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option: str | None = None,
    ) -> None:
        if option is not None:
            given = vars(namespace).setdefault("given", {})
            if self.dest in given:
                raise argparse.ArgumentError(self, "is passed twice; pass it once")
            given[self.dest] = option
        super().__call__(parser, namespace, values, option)


class _StoreOnce(_Once, argparse._StoreAction):
    """An option with a value, passed at most once."""


class BooleanOnce(_Once, argparse.BooleanOptionalAction):
    """The option ``--flag`` or ``--no-flag``, passed at most once."""


class Parser(argparse.ArgumentParser):
    """A parser that rejects an option passed twice, except for options that collect values."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)


def choose(kind: str, name: str, known: Iterable[str], listing: str) -> str:
    """Return a name if it is known; otherwise raise UsageError with similar names.

    Parameters
    ----------
    kind : str
        The kind of thing that the name refers to, such as "method".
    name : str
        The name that the user typed.
    known : iterable of str
        All valid names.
    listing : str
        The command that lists them.
    """
    known = list(known)
    if name in known:
        return name
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"{listing} lists them"
    raise UsageError(f"no {kind} {name!r}; {hint}")


def parse_value(text: str) -> Any:
    """Return the Python value that a text spells, or the text itself."""
    if text in ("inf", "-inf"):
        return float(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that texts of the form NAME=VALUE set."""
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"expected NAME=VALUE, got {setting!r}")
        if name in found:
            raise UsageError(f"parameter {name!r} is set twice; set it once")
        found[name] = parse_value(value)
    return found


def numbers(text: str) -> list[float]:
    """Return numbers separated by commas; inf is allowed."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected numbers such as 0.1,1,inf, got {text!r}"
        ) from None


def integers(text: str) -> list[int]:
    """Return integers separated by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected integers such as 1,2,5, got {text!r}") from None


def positive(text: str) -> int:
    """Return an integer of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer >= 1, got {text!r}")
    return int(text)


def folds(text: str) -> int:
    """Return an integer of at least 2."""
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"expected an integer >= 2, got {text!r}")
    return int(text)


def seed(text: str) -> int:
    """Return an integer between 0 and 2^32 - 1."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"expected an integer from 0 to 2^32 - 1, got {text!r}")
    return int(text)


def risk(text: str) -> "RiskControl":
    """Return the rule of a bound, such as ``recall=0.9`` or ``precision=0.8,confidence=0.95``."""
    from eigenlabel.thresholds import RiskControl  # noqa: PLC0415 - --help is quick without it

    parts = dict(part.partition("=")[::2] for part in words(text))
    bounds = ("recall", "false_discovery", "precision")
    try:
        settings = {name.strip(): float(value) for name, value in parts.items()}
        rule = RiskControl(**settings)
        rule.check()
    except (TypeError, ValueError):
        raise argparse.ArgumentTypeError(
            f"expected one of {', '.join(bounds)} with a number between 0 and 1, such as "
            f"recall=0.9, and confidence if wanted, got {text!r}"
        ) from None
    return rule


def share(text: str) -> float:
    """Return a number between 0 and 1, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(
            f"expected a number between 0 and 1 (excluded), such as 0.3, got {text!r}"
        )
    return value


def duration(text: str) -> float:
    """Return the seconds of a time such as 90, 90s, 10m or 1.5h."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1.0)
    try:
        value = float(number) * unit
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a time such as 90s, 10m or 1.5h, got {text!r}")
    return value


def words(text: str) -> list[str]:
    """Return words separated by commas, without empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]


def join_names(parts: list[str], known: Collection[str]) -> list[str]:
    """Return the parts, those of a known name that contains commas as one."""
    joined, k = [], 0
    while k < len(parts):
        ends = range(len(parts), k + 1, -1)
        end = next((e for e in ends if ", ".join(parts[k:e]) in known), k + 1)
        joined.append(", ".join(parts[k:end]))
        k = end
    return joined
