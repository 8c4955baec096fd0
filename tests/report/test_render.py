"""The HTML of a page is safe, small and reproducible."""

import json
import re
import stat

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import report
from pages import NASTY, Reader, everything, make_model


def bold(html):
    return re.findall(r'<td class="number best[^>]*>([^<]*)<', html)


def test_tables_do_not_need_scripts(page):
    html = report.render(page)
    text = " ".join(Reader(html).text)
    assert html.count("<tr data-row=") == 2 * 9  # results and thresholds of all labels
    label = page["sections"][3]["rows"][0]
    assert label[0] in text
    assert f"{label[-1]:.3f}" in text
    assert f"{page['sections'][2]['best_score']:.3f}" in text
    for words in ("All of it", "Labels of each eigenlabel", "One.", "numpy 2", "200"):
        assert words in text, words


def test_equal_pages_have_equal_html(page):
    again = json.loads(json.dumps(page))
    assert report.render(page) == report.render(again)


def test_names_are_shown_as_text_whatever_they_contain():
    m = len(NASTY)
    rng = np.random.default_rng(0)
    Y = (rng.uniform(size=(30, m)) < 0.5).astype(int)
    W = np.linalg.qr(rng.standard_normal((m, m)))[0]
    sections = [
        report.table(NASTY[0], NASTY, [NASTY], note=NASTY[1], best=["max"] * m),
        report.label_map(make_model(W, np.ones(m)), Y, NASTY),
        report.per_label(Y, Y, NASTY, title=NASTY[2]),
        report.threshold_curves(Y, rng.standard_normal((30, m)), 0.0, NASTY),
        report.resources([(NASTY[0], 1, 2)], note=NASTY[3]),
        report.critical_difference(NASTY, np.arange(m) + 1.0, 2.0, note=NASTY[4]),
        report.curves(NASTY[0], NASTY, dict.fromkeys(NASTY, range(m)), x=NASTY[1], y=NASTY[2]),
        report.text(NASTY[5], NASTY),
    ]
    html = report.render(
        report.page(NASTY[0], sections, subtitle=NASTY[1], about={NASTY[0]: NASTY})
    )
    reader = Reader(html)
    text = "".join(reader.text)
    for name in NASTY:
        assert name in text
    assert [tag for tag, _ in reader.tags].count("script") == 2
    assert not any(name.startswith("on") for _, attrs in reader.tags for name in attrs)
    block = html.partition('id="data">')[2].partition("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(block)
    assert json.loads(block)[1]["names"] == json.loads(reader.data)[1]["names"] == NASTY


def test_the_page_makes_no_network_requests(page):
    html = report.render(page)
    assert not re.search(r"https?:|@import|url\(|fetch\(|XMLHttp|WebSocket|import\(", html)
    for tag, attrs in Reader(html).tags:
        assert "src" not in attrs, tag
        assert attrs.get("href", "#").startswith(("#", "data:"))
    policy = next(a["content"] for t, a in Reader(html).tags if "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]


def test_four_hundred_labels_make_a_small_file(tmp_path):
    n, m = 30_000, 400
    rng = np.random.default_rng(1)
    Y = sp.random_array((n, m), density=0.02, rng=rng, format="csr").ceil()
    scores = rng.standard_normal((n, m)).astype(np.float32)
    names = [f"a facet::label number {j}" for j in range(m)]
    W = np.linalg.qr(rng.standard_normal((m, 20)))[0]
    sections = [
        report.label_map(make_model(W, np.arange(m, 0, -1.0)), Y, names),
        report.per_label(Y, sp.csr_array(scores > 2), names),
        report.threshold_curves(Y, scores, np.full(m, 1.5), names),
    ]
    path = report.write(report.page("Large", sections), tmp_path / "large.html")
    assert path.stat().st_size < 2_000_000  # the documented bound is 5 MB


def test_best_cells_are_bold():
    columns = ["model", "up", "down", "text", "plain"]
    rows = [
        ["a", 0.70001, 3, "0.61 ± 0.02", 1],
        ["b", 0.70002, 1, "0.64 ± 0.01", 2],
        ["c", 0.5, 2, "0.7 %", None],
        ["d", None, None, None, 9],
    ]
    shown = report.table("t", columns, rows, best=[None, "max", "min", "max", None])
    html = report.render(report.page("t", [shown]))
    assert bold(html) == ["0.700", "0.700", "1", "0.7 %"]  # equal texts are equally good
    assert '<td class="number">\u2013</td>' in html


@pytest.mark.parametrize(
    ("score", "shown"),
    [(0.0, "0.000"), (0.0049, "0.0049"), (-1.24e-05, "-1.2e-05"), (0.01, "0.010"), (0.5, "0.500")],
)
def test_small_scores_keep_two_digits_and_zero_is_zero(page, score, shown):
    tuning = {**page["sections"][2], "best_score": score}
    html = report.render(report.page("t", [tuning]))
    assert f"with a score of {shown}." in html


def test_names_that_begin_with_a_digit_are_not_numbers():
    shown = report.table("t", ["model"], [["3NN"], ["5 folds"]])
    html = report.render(report.page("t", [shown]))
    assert "data-value" not in html
    labels = report.per_label([[1, 0]], [[1, 0]], ["7", "8"])
    assert '<th scope="row"' in report.render(report.page("t", [labels]))


def test_a_failure_leaves_the_old_file(page, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    assert report.write(page, path) == path
    assert path.read_text(encoding="utf-8") == report.render(page)
    assert stat.S_IMODE(path.stat().st_mode) & 0o400
    before = path.read_bytes()
    broken = {**page, "sections": [{**page["sections"][2], "best_score": float("nan")}]}
    with pytest.raises(ValueError, match="JSON"):
        report.write(broken, path)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        report.write(report.page("other", []), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_writing_does_not_create_folders(page, tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a folder: create it"):
        report.write(page, tmp_path / "new" / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_very_long_label_does_not_make_a_large_page(fitted):
    data, model = fitted
    names = [*data.label_names[:-2], "x" * 10**6 + "a", "x" * 10**6 + "b"]
    sections = everything(data, model, names)
    html = report.render(report.page("x" * 10**6, sections, about={"x" * 10**6: "y" * 10**6}))
    usual = report.render(report.page("t", everything(data, model, data.label_names)))
    assert len(html) < len(usual) + 150_000
    tags = Reader(html).tags
    rows = [at["data-row"] for _, at in tags if at.get("data-row", "").startswith("xxx")]
    assert len(set(rows)) == 2  # they are still different
    titles = [at["title"] for _, at in tags if at.get("title", "").startswith("xxx")]
    assert titles
    assert max(map(len, titles)) < 350
