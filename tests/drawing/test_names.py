import numpy as np
import pytest
from matplotlib import pyplot

from eigenlabel.drawing.names import (
    LONGEST,
    Boxes,
    add_legend,
    place_names,
    readable,
    shared_area,
)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        ("$x_1$ 50% \\alpha", "$x_1$ 50% \\alpha"),
        ("two\n lines\tand a tab", "two lines and a tab"),
        ("bell\x07", "bell\ufffd"),
        ("half \ud800", "half \ufffd"),
        (3, "3"),
        ("", ""),
    ],
)
def test_names_are_readable(name, shown):
    assert readable(name) == shown


def test_long_names_keep_their_beginning_and_their_end():
    shown = readable("a" * 50 + "b" * 50)
    assert len(shown) == LONGEST
    assert shown.startswith("aaaa")
    assert shown.endswith("bbbb")
    assert readable("c" * LONGEST) == "c" * LONGEST


def test_a_legend_shows_every_name_letter_by_letter():
    ax = pyplot.subplots()[1]
    lines = [ax.plot([0, k])[0] for k in range(3)]
    names = ["$x$", "_hidden", "50% & more_"]
    legend = add_legend(ax, lines, names, title="$y$")
    assert [text.get_text() for text in legend.get_texts()] == names
    assert not any(t.get_parse_math() or t.get_usetex() for t in legend.get_texts())
    assert not legend.get_title().get_parse_math()
    ax.figure.canvas.draw()


def test_shared_areas_are_those_of_a_loop(rng):
    some, others = (
        Boxes(low, low + rng.uniform(size=(k, 2)))
        for k, low in ((5, rng.uniform(size=(5, 2))), (4, rng.uniform(size=(4, 2))))
    )
    naive = np.zeros((5, 4))
    for i in range(5):
        for j in range(4):
            sides = [
                min(some.high[i, d], others.high[j, d]) - max(some.low[i, d], others.low[j, d])
                for d in (0, 1)
            ]
            naive[i, j] = sides[0] * sides[1] if min(sides) > 0 else 0.0
    assert naive.any()
    np.testing.assert_allclose(shared_area(some, others), naive)


def place(ax, points, names, most=1000):
    ax.scatter(*points.T, s=20)
    ax.figure.canvas.draw()
    order = np.arange(len(points))
    radii = np.full(len(points), np.sqrt(20 / np.pi))
    return place_names(ax, points, names, radii=radii, order=order, most=most, fontsize=8)


def extents(texts):
    from matplotlib.text import Text

    for text in texts:
        if text is not None:
            text.figure.canvas.draw()
            break
    return [Text.get_window_extent(text) for text in texts if text is not None]


def test_a_single_name_is_beside_its_point():
    ax = pyplot.subplots()[1]
    points = np.array([[0.5, 0.5]])
    (text,) = place(ax, points, ["a_$name$"])
    (box,) = extents([text])
    x, y = ax.transData.transform(points[0])
    assert not box.contains(x, y)
    assert abs(box.x0 - x) < 20
    assert abs((box.y0 + box.y1) / 2 - y) < 5
    assert not text.arrow_patch.get_visible()
    assert text.get_text() == "a_$name$"


def test_names_overlap_neither_each_other_nor_the_border(rng):
    ax = pyplot.subplots()[1]
    texts = place(ax, rng.standard_normal((150, 2)), [f"label {j}" for j in range(150)])
    boxes = extents(texts)
    assert 30 < len(boxes) < 150
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
    frame = ax.get_window_extent()
    assert all(frame.x0 <= b.x0 and b.x1 <= frame.x1 for b in boxes)
    assert all(frame.y0 <= b.y0 and b.y1 <= frame.y1 for b in boxes)
    assert len(ax.texts) == len(boxes)  # the others are gone


def test_the_first_names_in_the_order_are_placed_and_no_more_than_wanted(rng):
    ax = pyplot.subplots()[1]
    texts = place(ax, rng.standard_normal((40, 2)), [f"label {j}" for j in range(40)], most=7)
    assert sum(text is not None for text in texts) == 7
    assert all(text is None for text in texts[12:])


def test_names_of_equal_points_are_placed_around_them():
    ax = pyplot.subplots()[1]
    texts = place(ax, np.zeros((6, 2)), ["first", "second", "third", "fourth", "fifth", "sixth"])
    assert all(text is not None for text in texts)
    boxes = extents(texts)
    assert not any(b.overlaps(other) for k, b in enumerate(boxes) for other in boxes[:k])
