"""Messages keep their parts, so that another interface can render them."""

import pickle

import pytest

from eigenlabel.inputs.messages import Count, Message, Parameter, join, total


def as_option(parameter):
    return f"--{parameter.name}"


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Parameter("like"), "like"),
        (Parameter("text", ...), "text=..."),
        (Parameter("labels", ["a", "b"]), "labels=['a', 'b']"),
        (Parameter("zero_based", True), "zero_based=True"),
    ],
)
def test_a_parameter_reads_as_python_code(parameter, text):
    assert str(parameter) == text


def test_a_message_is_a_string_whose_parameters_can_be_rendered_in_another_form():
    message = Message("pass ", Parameter("text", "a {b}"), ", found 'text='")
    assert message == "pass text='a {b}', found 'text='"
    assert message.render(as_option) == "pass --text, found 'text='"


def test_parts_survive_addition_joining_nesting_and_pickling():
    message = Message("pass ", Parameter("drop", "x"))
    for changed in (
        message + " (row 3)",
        "d.csv: " + message,
        join("; ", ["no column is left", message]),
        Message("d.csv: ", message),
        pickle.loads(pickle.dumps(message)),
    ):
        assert changed.render(as_option) == changed.replace("drop='x'", "--drop")


def test_a_count_has_a_singular_and_a_plural():
    assert str(Count(1, "cell counts", "cells count")) == "1 cell counts"
    assert str(Count(1200, "cell counts", "cells count")) == "1,200 cells count"


def test_equal_messages_are_merged_and_their_counts_are_summed():
    def about(number):
        return Message("'c2': ", Count(number, "cell is", "cells are"), " missing")

    found = total(["a column is left out", about(3), "a column is left out", about(4)])
    assert found == ["a column is left out", "'c2': 7 cells are missing"]
    assert total([about(1)]) == ["'c2': 1 cell is missing"]
