"""The report: its figures against naive ones, its HTML safe, small and always the same."""

import json
import re
import stat
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import eigenlabel as el
from eigenlabel import report
from eigenlabel.report import collect
from eigenlabel.report import labels as _labels

NASTY = [
    "<script>alert(1)</script>",
    "</script><b>",
    "\"';--",
    "{{7*7}}",
    "<!--",
    "a&b\u2028c",
    "{% raw %}",
    "' onmouseover='alert(2)",
]


def make_model(W, eigenvalues):
    return SimpleNamespace(eigenlabels_=np.asarray(W), eigenvalues_=np.asarray(eigenvalues))


def json_types(value):
    if isinstance(value, dict):
        return all(type(k) is str and json_types(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(json_types, value))
    return value is None or type(value) in (bool, int, float, str)


@pytest.fixture(scope="module")
def fitted():
    data = el.datasets.make_shared_subspace(n_samples=300, n_labels=9, random_state=3)
    model = el.SharedSubspaceClassifierCV(
        alphas=[np.inf, 0.1, 0], betas=[1, 0.01], n_components=[1, 3]
    ).fit(data.X, data.Y)
    return data, model


def everything(data, model, names):
    decisions = model.oof_scores_ > model.thresholds_
    return [
        report.table("Results", ["model", "F1"], [["a", 0.5], ["b", 0.25]], best=[None, "max"]),
        report.label_map(model, data.Y, names),
        report.surface(model),
        report.per_label(data.Y, decisions, names),
        report.threshold_curves(data.Y, model.oof_scores_, model.thresholds_, names),
        report.resources([("fit", 1.5, 200), ("predict", 0.1, None)]),
        report.critical_difference(["a", "b", "c"], [1.2, 2.0, 2.8], 0.9),
        report.curves(
            "Paths", [1, 2, 4], {"a": [0.1, 0.2, 0.3], "b": [None, 0.4, 0.5]}, x="d", y="F1"
        ),
        report.text("Words", ["One.", "Two."]),
    ]


@pytest.fixture(scope="module")
def page(fitted):
    data, model = fitted
    about = {"versions": {"numpy": "2"}, "seconds": np.float64(1.5), "cores": np.int64(2)}
    return report.page("All of it", everything(data, model, data.label_names), about=about)


# What is collected


def test_a_page_is_made_of_json_types(page):
    assert json_types(page)
    assert json.loads(json.dumps(page, allow_nan=False)) == page


def test_only_sections_make_a_page():
    with pytest.raises(TypeError, match="A section is what a function of this module gives"):
        report.page("t", ["text"])


def test_numbers_that_json_lacks():
    rows = report.table("t", ["a"], [[np.nan], [np.inf], [-np.inf], [np.True_], [np.int8(3)]])
    assert rows["rows"] == [[None], ["inf"], ["-inf"], [True], [3]]
    assert report.text("a\x00b\ud800", "c\rd")["title"] == "a\ufffdb\ufffd"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_labels_stand_where_the_eigenlabels_put_them(rng, form):
    m = 8
    Y = (rng.uniform(size=(50, m)) < 0.3).astype(int)
    W = np.linalg.qr(rng.standard_normal((m, m)))[0]
    eigenvalues = np.sort(rng.uniform(size=m))[::-1]
    shown = report.label_map(make_model(W, eigenvalues), form(Y), [f"n{j}" for j in range(m)])
    where = W[:, :6] * np.sqrt(eigenvalues[:6])
    np.testing.assert_allclose(shown["coordinates"], where, rtol=1e-3)  # four digits are kept
    assert shown["support"] == Y.sum(axis=0).tolist()
    assert shown["group"] == np.abs(where).argmax(axis=1).tolist()
    assert shown["groups"] == [f"eigenlabel {k}" for k in range(1, 7)]
    assert shown["n_samples"] == 50


def test_an_eigenlabel_is_told_by_its_largest_weights():
    W = np.array([[0.7, -0.6, 0.3, 0.04, -0.2, 0.09, -0.06]]).T  # less than 0.07 is no weight
    shown = report.label_map(make_model(W, [2.0]), np.eye(7, dtype=int), "abcdefg")
    told = shown["eigenlabels"][0]
    assert told["eigenvalue"] == 2.0
    assert told["positive"] == [[0, 0.7], [2, 0.3], [5, 0.09]]
    assert told["negative"] == [[1, -0.6], [4, -0.2]]


@pytest.mark.parametrize("block", [1, 14, 2**22])
def test_neighbours_are_those_of_largest_correlation(rng, monkeypatch, block):
    monkeypatch.setattr(_labels, "BLOCK", block)  # one label at a time, two, all
    Y = (rng.uniform(size=(60, 7)) < 0.4).astype(int)
    Y[:, 3] = 1 - Y[:, 0]
    Y[:, 5] = 0  # never occurs: no correlation with anything
    Y[:, 6] = 1
    shown = report.label_map(make_model(np.eye(7), np.ones(7)), sp.csr_array(Y), "abcdefg")
    for j, found in enumerate(shown["neighbours"]):
        if j in {5, 6}:
            assert found == []
            continue
        others = [i for i in (0, 1, 2, 3, 4) if i != j]
        naive = sorted(
            ((i, np.corrcoef(Y[:, i], Y[:, j])[0, 1]) for i in others), key=lambda p: -abs(p[1])
        )
        assert [i for i, _ in found] == [i for i, _ in naive][: len(found)]
        np.testing.assert_allclose([r for _, r in found], [r for _, r in naive], atol=6e-4)
    assert shown["neighbours"][0][0] == [3, -1.0]


def test_facets_give_the_colours():
    names = [f"{facet}::{k}" for k in range(2) for facet in "abcdefgh"] + ["a::9", "plain"]
    m = len(names)
    shown = report.label_map(make_model(np.eye(m), np.ones(m)), np.eye(m, dtype=int), names)
    assert shown["groups"] == [*"abcdefg", "other"]  # seven colours, the commonest first
    assert (shown["group"][0], shown["group"][7], shown["group"][-1]) == (0, 7, 7)
    few = ["a::1", "b", "c"]
    shown = report.label_map(make_model(np.eye(3), np.ones(3)), np.eye(3, dtype=int), few)
    assert shown["groups"] == ["eigenlabel 1", "eigenlabel 2", "eigenlabel 3"]


def test_a_model_that_shares_nothing_has_a_map():
    shown = report.label_map(make_model(np.zeros((2, 0)), np.ones(2)), [[1, 0]], "ab")
    assert (shown["eigenlabels"], shown["coordinates"], shown["groups"]) == (
        [],
        [[], []],
        ["labels"],
    )
    assert "it has no eigenlabels" in report.render(report.page("t", [shown]))


def test_of_many_labels_the_most_frequent_are_shown(monkeypatch):
    monkeypatch.setattr(collect, "MAX_LABELS", 2)
    Y = np.array([[1, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 1]])
    shown = [
        report.label_map(make_model(np.eye(4), np.ones(4)), Y, "abcd"),
        report.threshold_curves(Y, np.zeros((3, 4)), 0.0, "abcd"),
    ]
    assert [s["names"] for s in shown] == [["a", "d"]] * 2
    assert len(shown[0]["coordinates"]) == len(shown[0]["neighbours"]) == 2
    rows = report.per_label(Y, Y, "abcd")
    assert [row[0] for row in rows["rows"]] == ["d", "a"]
    assert "The 2 most frequent of 4 labels." in report.render(report.page("t", shown))


def test_the_surface_is_the_score_grid(fitted):
    _, model = fitted
    shown = report.surface(model)
    assert (shown["alphas"], shown["betas"], shown["dimensions"]) == (
        ["0", "0.1", "∞"],
        ["0.01", "1"],
        [1, 3],
    )
    ascending = np.moveaxis(model.score_grid_[::-1, ::-1], 2, 0)  # the lists were descending
    np.testing.assert_allclose(shown["scores"], ascending, rtol=1e-3)
    i, j, k = shown["chosen"]
    assert shown["scores"][k][i][j] == np.max(shown["scores"]) == shown["best_score"]
    assert collect._tick(1e-6) == "1e-6"


def test_undefined_scores_leave_holes(fitted):
    _, model = fitted
    results = dict(model.cv_results_)
    results["pooled_test_score"] = results["pooled_test_score"].copy()
    hole = int(np.flatnonzero(results["param_alpha"] == 0)[0])
    results["pooled_test_score"][hole] = np.nan
    odd = SimpleNamespace(cv_results_=results, scoring=len, best_index_=1, best_score_=0.5)
    shown = report.surface(odd)
    assert sum(v is None for plane in shown["scores"] for row in plane for v in row) == 1
    assert shown["scoring"] == "score"
    assert report.render(report.page("t", [shown]))


@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
def test_per_label_figures(rng, form):
    Y, P = (rng.uniform(size=(2, 40, 6)) < 0.3).astype(int)
    P[:, 0] = 0
    Y[:, 1] = 0
    Y[:, 2] = P[:, 2] = 0
    rows = {row[0]: row[1:] for row in report.per_label(form(Y), form(P), "abcdef")["rows"]}
    for j, name in enumerate("abcdef"):
        hits = sum(y and p for y, p in zip(Y[:, j], P[:, j], strict=True))
        positives, predicted = Y[:, j].sum(), P[:, j].sum()
        precision = hits / predicted if predicted else 0
        recall = hits / positives if positives else 0
        f1 = 2 * hits / (positives + predicted) if positives + predicted else 0
        np.testing.assert_allclose(
            rows[name], [positives, predicted, precision, recall, f1], atol=6e-5
        )
    supports = [row[1] for row in report.per_label(Y, P, "abcdef")["rows"]]
    assert supports == sorted(supports, reverse=True)


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1.0, 1e9])
def test_curves_are_exact_at_their_points(rng, scale):
    scores = rng.standard_normal((300, 4)) * scale
    scores[:, 1] = np.round(scores[:, 1] / scale) * scale  # many ties
    scores[:, 2] = 3.0 * scale
    Y = (scores + scale * rng.standard_normal(scores.shape) > scale).astype(int)
    Y[:, 3] = 0
    chosen = np.array([0.3 * scale, -np.inf, np.inf, np.nan])
    shown = report.threshold_curves(sp.csr_array(Y), scores, chosen, "abcd")
    for j, curve in enumerate(shown["curves"]):
        t = np.array(curve["t"])
        assert 2 <= len(t) <= 60
        assert (np.diff(t) > 0).all()
        above = scores[:, j] > t[:, None]
        np.testing.assert_array_equal(curve["predicted"], above.sum(axis=1))
        np.testing.assert_array_equal(curve["hits"], (above & (Y[:, j] == 1)).sum(axis=1))
        assert (curve["predicted"][0], curve["predicted"][-1]) == (300, 0)
        if j < 3:
            at = scores[:, j] > chosen[j]
            assert curve["at"] == [at.sum(), (at & (Y[:, j] == 1)).sum()]
    assert [c["threshold"] for c in shown["curves"][1:]] == ["-inf", "inf", None]
    assert shown["curves"][3]["at"] is None


def test_curves_show_rare_positives_and_few_predictions(rng):
    scores = rng.standard_normal((5000, 1))
    Y = np.zeros((5000, 1), dtype=int)
    Y[rng.permutation(5000)[:8]] = 1
    curve = report.threshold_curves(Y, scores, 0.0, ["rare"])["curves"][0]
    assert set(curve["hits"]) == set(range(9))
    assert sum(0 < predicted < 60 for predicted in curve["predicted"]) >= 6


def test_samples_that_were_never_held_out_do_not_count():
    scores = np.array([[0.9], [np.nan], [0.1]])
    shown = report.threshold_curves([[1], [1], [0]], scores, 0.5, ["a"])
    assert (shown["n_samples"], shown["support"], shown["curves"][0]["at"]) == (2, [1], [1, 1])


def test_groups_of_ranks_within_the_critical_difference():
    shown = report.critical_difference("abcd", [3.0, 1.0, 2.0, 4.5], 1.0)
    assert (shown["names"], shown["ranks"]) == (["b", "c", "a", "d"], [1.0, 2.0, 3.0, 4.5])
    assert shown["groups"] == [[0, 1], [1, 2]]
    assert report.critical_difference("abcd", [3.0, 1.0, 2.0, 4.5], 2.0)["groups"] == [
        [0, 2],
        [2, 3],
    ]
    assert report.critical_difference("ab", [1.0, 2.0], 0.5)["groups"] == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: report.table("t", ["a"], [[1, 2]]), "A row has 2 cells, the table 1 columns"),
        (lambda: report.table("t", ["a"], [], best=[]), "best has 0 entries for 1 columns"),
        (lambda: report.table("t", ["a"], [], best=["most"]), "best must be one of 'max', 'min'"),
        (lambda: report.per_label([[1]], [[1]], ["a", "b"]), "2 label_names for 1 labels"),
        (lambda: report.per_label([[1]], [[1, 0]], ["a"]), r"shape \(1, 1\), decisions \(1, 2\)"),
        (lambda: report.per_label(sp.csr_array([[2]]), [[1]], ["a"]), "Y must be a label matrix"),
        (lambda: report.per_label(sp.csr_array((3, 0)), [[1]], []), "Y has no columns"),
        (lambda: report.threshold_curves([[1]], [[np.nan]], 0, ["a"]), "No samples with scores"),
        (lambda: report.threshold_curves([[1]], [[1, 2]], 0, ["a"]), "scores has shape"),
        (lambda: report.resources([("fit", 1)]), r"A row is \(step, seconds, MiB\)"),
        (lambda: report.curves("t", [1], {"a": []}, x="", y=""), "'a' has 0 figures for 1 values"),
        (lambda: report.critical_difference(["a"], [1, 2], 1), "1 names for ranks of shape"),
        (lambda: report.critical_difference(["a"], [np.nan], 1), "ranks must be finite"),
        (lambda: report.critical_difference(["a"], [1], -1), "cd must be a number >= 0"),
        (
            lambda: report.label_map(make_model(np.eye(2), [1, 1]), [[1]], "a"),
            "1 labels, the model 2",
        ),
    ],
)
def test_wrong_calls(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_models_that_cannot_be_shown():
    with pytest.raises(TypeError, match="has no eigenlabels_: fit a SharedSubspaceClassifier"):
        report.label_map(el.SharedSubspaceClassifier(), [[1]], ["a"])
    with pytest.raises(TypeError, match="only a SharedSubspaceClassifierCV has tried a grid"):
        report.surface(el.SharedSubspaceClassifier())


def test_nothing_passed_in_is_changed(rng):
    Y = sp.csc_array((np.array([1.0, 0.0, 1.0]), ([0, 1, 2], [0, 1, 1])), shape=(3, 2))
    before = Y.copy()
    scores = rng.standard_normal((3, 2))
    kept = scores.copy()
    report.per_label(Y, Y, "ab")
    report.threshold_curves(Y, scores, 0.0, "ab")
    assert (Y.nnz, Y.data.tolist()) == (before.nnz, before.data.tolist())
    np.testing.assert_array_equal(scores, kept)


# What is rendered


class Reader(HTMLParser):
    """Keeps the text outside scripts and styles, every tag, and the embedded data."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.data, self.inside = [], [], "", None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.inside = dict(attrs).get("id", tag)

    def handle_endtag(self, tag):
        if tag in {"script", "style"}:
            self.inside = None

    def handle_data(self, data):
        if self.inside is None:
            self.text.append(data)
        elif self.inside == "data":
            self.data += data


def bold(html):
    return re.findall(r'<td class="number best[^>]*>([^<]*)<', html)


def test_tables_are_there_without_scripts(page):
    html = report.render(page)
    text = " ".join(Reader(html).text)
    assert html.count("<tr data-row=") == 2 * 9  # figures and thresholds of all labels
    label = page["sections"][3]["rows"][0]
    assert label[0] in text
    assert f"{label[-1]:.3f}" in text
    assert f"{page['sections'][2]['best_score']:.3f}" in text
    for words in ("All of it", "What each eigenlabel says", "One.", "numpy 2", "200"):
        assert words in text, words


def test_the_same_page_gives_the_same_bytes(page):
    again = json.loads(json.dumps(page))
    assert report.render(page) == report.render(again)


def test_names_are_shown_as_text_whatever_they_hold():
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


def test_the_page_asks_the_network_for_nothing(page):
    html = report.render(page)
    assert not re.search(r"https?:|@import|url\(|fetch\(|XMLHttp|WebSocket|import\(", html)
    for tag, attrs in Reader(html).tags:
        assert "src" not in attrs, tag
        assert attrs.get("href", "#").startswith(("#", "data:"))
    policy = next(a["content"] for t, a in Reader(html).tags if "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]


def test_four_hundred_labels_are_a_small_file(tmp_path):
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
    assert path.stat().st_size < 2_000_000  # 5 MB is the bound we promise


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
    assert bold(html) == ["0.700", "0.700", "1", "0.7 %"]  # what reads the same is as good
    assert '<td class="number">\u2013</td>' in html


def test_names_that_begin_with_a_digit_are_no_numbers():
    shown = report.table("t", ["model"], [["3NN"], ["5 folds"]])
    html = report.render(report.page("t", [shown]))
    assert "data-value" not in html
    labels = report.per_label([[1, 0]], [[1, 0]], ["7", "8"])
    assert '<th scope="row"' in report.render(report.page("t", [labels]))


def test_the_diagram_joins_what_does_not_differ():
    names = ["one", "two", "three", "four with a long name"]
    shown = report.critical_difference(names, [1.0, 1.8, 2.4, 3.2], 1.5)
    html = report.render(report.page("t", [shown]))
    assert html.count('class="join"') == len(shown["groups"]) == 2
    assert all(name in html for name in names)
    bars = re.findall(r'class="join" d="M([\d.]+) ([\d.]+)H([\d.]+)"', html)
    (a, y1, b), (c, y2, d) = (tuple(map(float, bar)) for bar in bars)
    assert a < c < b < d  # they overlap,
    assert y1 != y2  # so they stand apart
    width = float(re.search(r'class="diagram" viewBox="0 0 (\d+)', html)[1])
    assert 0 < a < d < width


def test_curves_go_up_where_their_figures_do():
    series = {"up": [0.0, 0.5, 1.0], "gap": [1.0, None, 0.25], "one": [None, 0.75, float("nan")]}
    shown = report.curves("t", ["1%", "5%", "25%"], series, x="share", y="loss")
    html = report.render(report.page("t", [shown]))
    paths = re.findall(r'class="curve" d="M([^"h]+)"', html)
    up, gap = ([tuple(map(float, p.split())) for p in path.split("L")] for path in paths)
    assert [x for x, _ in up] == sorted({x for x, _ in up})
    assert up[0][1] > up[1][1] > up[2][1]  # downwards on the screen
    assert up[1][1] == (up[0][1] + up[2][1]) / 2
    assert gap == [
        (up[0][0], up[2][1]),
        (up[2][0], pytest.approx(0.75 * up[0][1] + 0.25 * up[2][1])),
    ]
    tags = Reader(html).tags
    assert sum(tag == "circle" and at["r"] == "3" for tag, at in tags) == 3 + 2 + 1
    assert "search" not in {at.get("id") for _, at in tags}
    flat = report.curves("t", [1], {"a": [2.0]}, x="x", y="y")
    assert "nan" not in report.render(report.page("t", [flat]))


def test_writing_is_whole_or_not_at_all(page, tmp_path, monkeypatch):
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


def test_folders_are_not_made_in_silence(page, tmp_path):
    with pytest.raises(FileNotFoundError, match="is no folder: create it"):
        report.write(page, tmp_path / "new" / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_very_long_label_makes_a_page_of_usual_size(fitted):
    data, model = fitted
    names = [*data.label_names[:-2], "x" * 10**6 + "a", "x" * 10**6 + "b"]
    sections = everything(data, model, names)
    html = report.render(report.page("x" * 10**6, sections, about={"x" * 10**6: "y" * 10**6}))
    usual = report.render(report.page("t", everything(data, model, data.label_names)))
    assert len(html) < len(usual) + 150_000
    tags = Reader(html).tags
    rows = [at["data-row"] for _, at in tags if at.get("data-row", "").startswith("xxx")]
    assert len(set(rows)) == 2  # they can still be told apart
    titles = [at["title"] for _, at in tags if at.get("title", "").startswith("xxx")]
    assert titles
    assert max(map(len, titles)) < 350


FSI, PDI = "\u2068", "\u2069"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        ("\u202egnp.exe", f"{FSI}\u202egnp.exe{PDI}"),
        ("שלום", f"{FSI}שלום{PDI}"),
        (f"a{PDI}\u202eb", f"{FSI}a\u202eb{PDI}"),  # it would end the isolation
        ("a\u2067b", f"{FSI}a\u2067b{PDI}{PDI}"),  # it would outlast it
        (f"{FSI}a{PDI}b\u202e", f"{FSI}{FSI}a{PDI}b\u202e{PDI}"),
    ],
)
def test_what_turns_the_direction_is_isolated(name, shown):
    assert report.text("t", name)["paragraphs"] == [shown]
    assert report.table(name, [name], [[name]])["rows"] == [[shown]]
    assert report.page(name, [])["title"] == shown
    assert report.per_label([[1]], [[1]], [name])["rows"][0][0] == shown


def test_a_name_that_is_cut_stays_isolated():
    name = "\u202e" + "long" * 20
    found = report.critical_difference([name, "b"], [1.0, 2.0], 0.5)
    html = report.render(report.page("t", [found]))
    assert f">{FSI}\u202e" in html
    assert f"…{PDI} <tspan" in html
    facets = collect._facets([f"{name}::a", f"{name}::b"])[0]
    assert facets == [f"{FSI}{name}{PDI}"]
