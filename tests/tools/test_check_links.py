"""The script that checks the links of a built site."""

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "tools" / "check_links.py"


@pytest.fixture
def links():
    spec = importlib.util.spec_from_file_location("links", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_to_missing_files_and_anchors_and_files_of_the_web_are_found(links, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="sub/b.html#here">good</a><a href="sub/b.html#gone">bad</a>'
        '<a href="c.html">bad</a><a href="#top">good</a><a href="https://example.org">not read</a>'
        '<script src="https://example.org/x.js"></script><img src="none.png">'
    )
    (tmp_path / "sub" / "b.html").write_text('<p id="here"></p><a href="../a.html?x=1">good</a>')
    assert sorted(links.broken_links(tmp_path)) == [
        "a.html: loads https://example.org/x.js",
        "a.html: no anchor sub/b.html#gone",
        "a.html: no file c.html",
        "a.html: no file none.png",
    ]


@pytest.mark.parametrize(("text", "code"), [('<a href="b">', 1), ('<a href="a.html">', 0)])
def test_the_exit_code_states_whether_something_is_broken(links, tmp_path, monkeypatch, text, code):
    (tmp_path / "a.html").write_text(text)
    monkeypatch.setattr("sys.argv", ["check_links.py", str(tmp_path)])
    assert links.main() == code
