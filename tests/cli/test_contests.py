"""The command prints contests."""

from dataclasses import replace

import pytest

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.cli import main
from eigenlabel.cli.contests import print_contest
from eigenlabel.experiment import Data, Method, Splits
from eigenlabel.reproduce import CONTESTS, get_table
from protocols import planted_views


def small_contest():
    methods = tuple(
        Method(name, SharedSubspaceClassifier(alpha))
        for name, alpha in (("r-KMLR", 0.1), ("KGHA-d", 1.0), ("KGHA", 10.0))
    )
    data = {f"planted {k}": (Data(f"planted {k}", planted_views(k)),) for k in range(2)}
    return replace(
        get_table("kgha-table7"), methods=methods, beyond=(), data=data, splits=Splits("shuffle", 3)
    )


def test_the_command_prints_a_contest_and_writes_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(CONTESTS, "kgha-table7", small_contest())
    page, folder = tmp_path / "page.html", str(tmp_path / "runs")
    words = ["reproduce", "kgha-table7", "-o", folder]
    assert main([*words, "--report", str(page)]) == 0
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines()]
    tested = [line for line in lines if line[:3] == ["planted", "0", "KGHA-d"]]
    assert {line[9] for line in tested} == {"3"}, "pairs, after the mean, splits, counts and p"
    assert sum(line[:3] == ["planted", "0", "KGHA-d"] for line in lines) == 4  # metrics
    assert ["KGHA-d", "78.7", "75.2"] in lines  # the paper's, in a table of its own
    assert "findings that the paper has on all its data sets" in out
    assert "orders of methods can be compared, figures cannot" in out
    assert "planted 1" in page.read_text(encoding="utf-8")
    assert main([*words, "--methods", "KGHA-d", "--format", "markdown"]) == 0
    assert "| planted 0 | KGHA-d |" in capsys.readouterr().out
    assert main([*words, "--methods", "nobody"]) == 2
    with pytest.raises(ValueError, match="No method 'nobody' in kgha-table7; there are: r-KMLR"):
        small_contest().protocol(methods=["nobody"])


def make_records(contest):
    """Return records in which the reference method is better on every split."""
    return [
        {
            "data": data,
            "method": method,
            "split": split,
            "metrics": dict.fromkeys(contest.all_metrics(), value + split / 1000),
        }
        for data in contest.data
        for method, value in zip(contest.runnable(), [0.5, 0.4, 0.3], strict=False)
        for split in range(8)
    ]


def test_a_contest_prints_our_results_those_of_the_paper_and_a_summary(capsys):
    contest = CONTESTS["kgha-table3"]
    for form in ("text", "markdown"):
        print_contest(contest, make_records(contest), form)
        out = capsys.readouterr().out
        assert out.startswith(contest.title)
        for metric in contest.metrics.values():
            assert f"The paper's {metric} in percent, on its own data:" in out
            assert f"Kendall's tau of the orders of methods by {metric}:" in out
            assert f"{metric}: {contest.reference} against another method, for the findings" in out
        note = f"note: {contest.notes[0]}"
        assert (f"- {note}" in out) == (form == "markdown")
        assert note in out
