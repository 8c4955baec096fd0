"""The demonstration."""

import pytest

from commands import run_command


def test_demo_prints_a_real_result_and_writes_a_page(tmp_path, capsys):
    page = tmp_path / "demo.html"
    assert run_command("demo", "--samples", 300, "--min-positives", 1000, "--report", page) == 0
    out = capsys.readouterr().out
    figures = {line[:30].strip(): line[30:].split() for line in out.splitlines()}
    ours, plain = figures["shared subspace, tuned"], figures["one-vs-rest linear SVM"]
    assert float(ours[0]) > float(plain[0]) > 0.3
    assert "devel::library" in out.split("first eigenlabels:")[1]
    assert "role::program" in page.read_text()


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
