"""Errors and notes name options instead of Python parameters."""

import argparse
import io

import pytest

from commands import run_command
from eigenlabel.cli.messages import describe, print_notes, render
from eigenlabel.datasets import DataError
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.inputs.parameters import ParameterTypeError, ParameterValueError


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        (Parameter("text", "title"), "--text title"),
        (Parameter("drop", "a b"), "--drop 'a b'"),
        (Parameter("labels", ["a", "b"]), "--labels a,b"),
        (Parameter("labels", "a_*"), "--labels 'a_*'"),
        (Parameter("separator", " "), "--separator ' '"),
        (Parameter("xml", ...), "--xml"),
        (Parameter("n_features"), "--n-features"),
        (Parameter("zero_based", True), "--zero-based"),
        (Parameter("like"), "the model"),
        (Parameter("max_bytes", ...), "max_bytes=..."),
    ],
)
def test_parameters_of_readers_become_options(parameter, expected):
    assert render(Message("pass ", parameter, " or text='x'")) == f"pass {expected} or text='x'"


def test_plain_text_is_not_changed():
    assert render("x.csv, line 3: text='big'") == "x.csv, line 3: text='big'"


def test_an_error_about_a_file_names_the_place_and_the_option():
    reason = Message("which columns? Pass ", Parameter("labels", "a"))
    error = DataError("labels='x'.csv", reason, 3)
    found = describe(error, argparse.Namespace())
    assert found == "labels='x'.csv, line 3: which columns? Pass --labels a"


@pytest.mark.parametrize("kind", [ParameterValueError, ParameterTypeError])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"given": {"gamma": "--gamma"}}, "--gamma must be > 0."),
        ({"set": ["gamma=-1"]}, "--set gamma must be > 0."),
        ({"given": {"alpha": "--alpha"}, "set": ["beta=1"]}, "gamma must be > 0."),
        ({}, "gamma must be > 0."),
    ],
)
def test_an_error_about_a_parameter_names_the_option_that_set_it(kind, given, expected):
    assert describe(kind("gamma", "must be > 0."), argparse.Namespace(**given)) == expected


def test_errors_without_arguments_are_described_too():
    assert describe(ValueError(), argparse.Namespace()) == ""
    assert describe(OSError(2, "No such file", "x"), argparse.Namespace()).endswith("'x'")


def test_notes_are_rendered_with_their_source():
    stream = io.StringIO()
    print_notes(["plain", Message("pass ", Parameter("drop", "x"))], "d.csv", stream)
    assert stream.getvalue() == "note: d.csv: plain\nnote: d.csv: pass --drop x\n"


def test_commands_name_the_options_that_are_out_of_range(folder, tmp_path, capsys):
    train, model = folder / "train.arff", tmp_path / "m.skops"
    assert run_command("tune", train, "-o", model, "--kernel", "rbf", "--gamma", -1) == 1
    assert "eigenlabel: --gamma must be" in capsys.readouterr().err
    assert (
        run_command("fit", train, "-o", model, "--method", "MLkNN", "--set", "n_neighbors=0") == 1
    )
    assert "eigenlabel: --set n_neighbors must be" in capsys.readouterr().err
    assert not model.exists()


def test_commands_recommend_options_for_a_table(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert run_command("fit", tmp_path / "t.csv", "-o", tmp_path / "m.skops") == 1
    assert "Pass --labels column if the labels" in capsys.readouterr().err
