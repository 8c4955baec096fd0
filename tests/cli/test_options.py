"""The parser and the values of options."""

import numpy as np
import pytest

from commands import run_command
from eigenlabel.cli.options import join_names, parse_settings, parse_value, words
from eigenlabel.cli.tables import format_table


def test_settings_are_python_values_or_text():
    assert parse_settings(["a=1", "b=inf", "c=[1, 2]", "d=text", "e=None", "f=x=y"]) == {
        "a": 1, "b": np.inf, "c": [1, 2], "d": "text", "e": None, "f": "x=y"
    }  # fmt: skip
    assert parse_value("__import__('os')") == "__import__('os')"


def test_names_that_contain_commas_are_found_in_lists():
    known = ("SVM", "ML_LS", "ML_LS, cosine", "SVM, n = 5")
    assert join_names(words("ML_LS, cosine,SVM,n = 5,x"), known) == [
        *("ML_LS, cosine", "SVM, n = 5", "x")
    ]
    assert join_names(words("ML_LS,SVM"), known) == ["ML_LS", "SVM"]
    assert join_names([], known) == []


def test_unusual_settings_and_lists_are_parsed():
    with pytest.raises(ValueError, match="expected NAME=VALUE, got '=1'"):
        parse_settings(["=1"])
    assert parse_value("-inf") == -np.inf
    assert words(" a, b ,,c") == ["a", "b", "c"]
    assert format_table(("a\\b",), [], "latex").splitlines()[1] == r"a\textbackslash b \\"


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "d.csv", "-o", "m", "--separator", ";", "--separator", ";"],
        ["fit", "d.csv", "-o", "m", "-o", "n"],
        ["fit", "d.csv", "-o", "m", "--samples", "a", "--samples", "b"],
        ["fit", "d.csv", "-o", "m", "--zero-based", "--no-zero-based"],
        ["compare", "d.csv", "-o", "m", "--methods", "ridge", "--methods", "MLkNN"],
        ["tune", "d.csv", "-o", "m", "--cv", "3", "--cv", "4"],
    ],
)
def test_an_option_passed_twice_is_an_error(words, capsys):
    assert run_command(*words) == 2
    assert "is passed twice; pass it once" in capsys.readouterr().err


def test_a_parameter_set_twice_is_an_error(capsys):
    assert run_command("fit", "d.csv", "-o", "m", "--set", "alpha=1", "--set", "alpha=2") == 2
    assert "parameter 'alpha' is set twice" in capsys.readouterr().err
