"""The demonstration."""

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
