"""The demonstration."""

import re

import pytest

from commands import run_command


def test_demo_prints_a_real_result_and_writes_a_page(tmp_path, capsys):
    page = tmp_path / "demo.html"
    assert run_command("demo", "--samples", 300, "--min-positives", 1000, "--report", page) == 0
    out = capsys.readouterr().out
    width = len("one-vs-rest linear SVM")
    figures = {line[:width].strip(): line[width:].split() for line in out.splitlines()}
    ours, plain = figures["shared subspace, tuned"], figures["one-vs-rest linear SVM"]
    assert float(ours[0]) > float(plain[0]) > 0.3
    assert len(figures["blend"]) == 5
    assert "devel::library" in out.split("first eigenlabels:")[1]
    assert re.search(r"\n +\d+%  [\w:-]+ \((right|not tagged)\): \w", out)
    assert re.search(r"A suspected label error: [\w:-]+ of \S+ may be (missing|wrong)", out)
    text = page.read_text()
    for word in ("role::program", "The blend and its members", "Suspected label errors"):
        assert word in text


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--seed", -1, "--seed must be an integer >= 0, got -1."),
        (
            "--min-positives",
            100_000,
            "--min-positives must be an integer between 0 and 10155, got ",
        ),
        ("--samples", 10, "--samples must be an integer between 50 and "),
    ],
)
def test_a_wrong_value_is_refused_with_its_option_and_bounds(
    option, value, message, tmp_path, capsys
):
    assert run_command("demo", option, value, "--report", tmp_path / "demo.html") == 1
    assert capsys.readouterr().err.startswith(f"eigenlabel: {message}")
    assert not (tmp_path / "demo.html").exists()
