"""Docstrings of the public names: complete by the rules of numpydoc, and in plain words.

``python tests/test_docstrings.py`` lists what is wrong, by module.
"""

import inspect
import re
import sys
from collections import defaultdict

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

from test_public_names import public_things

# What numpydoc may say without being asked: where the summary stands, and sections that we leave
# out on purpose ("See Also", and extended summaries of functions that need none).
ALLOWED = {
    "GL01": "the summary stands on the line of the quotes",
    "GL02": "so do the closing quotes of short docstrings",
    "ES01": "one line is enough for a simple function",
    "SA01": "the pages of the guide link what belongs together",
    "EX01": "classes have examples; their methods are shown there",
    "RT02": "a returned value has a name, as a parameter has",
    "PR06": "'int' and 'array of int' are both good English",
    "YD01": "generators describe what they yield in their summary",
}
DIALECT = re.compile(r"\b(?:gives?|tells?|refuses?|sees to|lets? go)\b", re.IGNORECASE)


def _names():
    return [name for name, thing in public_things() if callable(thing) or inspect.isclass(thing)]


def _faults(name):
    """Return what is wrong with the docstring of a public name."""
    found = [f"{code} {text}" for code, text in validate(name)["errors"] if code not in ALLOWED]
    thing = dict(public_things())[name]
    text = inspect.getdoc(thing) or ""
    found += [f"dialect: {match.group()!r}" for match in DIALECT.finditer(text)]
    if inspect.isclass(thing):
        found += _attribute_faults(thing)
    return found


def _attribute_faults(cls):
    parsed = NumpyDocString(inspect.getdoc(cls) or "")
    for entry in parsed["Attributes"]:
        text = " ".join(entry.desc).strip()
        if "," in entry.name:
            yield f"attributes {entry.name!r} share an entry"
        elif not entry.type:
            yield f"attribute {entry.name!r} has no type"
        elif not text or not text[0].isupper() or not text.rstrip().endswith((".", "``")):
            yield f"attribute {entry.name!r} has no full sentence"


@pytest.mark.parametrize("name", _names())
def test_the_docstring_of_a_public_name_is_complete(name):
    assert not _faults(name)


def main():
    """Print the faults by module."""
    by_module = defaultdict(list)
    things = dict(public_things())
    for name in _names():
        module = inspect.getmodule(inspect.unwrap(things[name]))
        for fault in _faults(name):
            by_module[getattr(module, "__name__", "?")].append(f"  {name}: {fault}")
    for module, faults in sorted(by_module.items()):
        sys.stdout.write(f"{module}: {len(faults)}\n" + "\n".join(faults) + "\n")


if __name__ == "__main__":
    main()
