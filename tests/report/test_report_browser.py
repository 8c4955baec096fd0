"""The page in a browser: it loads nothing, logs nothing, and its controls work."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import eigenlabel as el
from eigenlabel import report

pytest.importorskip("selenium", reason="selenium is a development extra")
from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no chromium and chromedriver on the PATH"
)
NASTY = "<script>alert(1)</script>"
N_LABELS = 30


@pytest.fixture(scope="module")
def content():
    data = el.datasets.make_shared_subspace(n_samples=400, n_labels=N_LABELS, random_state=5)
    names = [NASTY, "</script><b>", "\"';--", "{{7*7}}", *data.label_names[4:]]
    model = el.SharedSubspaceClassifierCV(
        alphas=[0, 0.1, np.inf], betas=[0.01, 1], n_components=[1, 3]
    ).fit(data.X, data.Y)
    decisions = model.oof_scores_ > model.thresholds_
    sections = [
        report.table("Results", ["model", "F1"], [["a", 0.5], ["b", None], ["c", 0.75]]),
        report.label_map(model, data.Y, names),
        report.surface(model),
        report.per_label(data.Y, decisions, names),
        report.threshold_curves(data.Y, model.oof_scores_, model.thresholds_, names),
        report.critical_difference(["a", "b", "c"], [1.2, 2.0, 2.8], 0.9),
        report.label_details(model, data.X, data.Y, decisions, model.predict_proba(data.X), names),
        report.reliability(data.Y, model.predict_proba(data.X)),
        report.boxes("Splits", {"f1_macro": {"a": [0.1, 0.2, 0.4], NASTY: [0.3]}}),
        {**report.text("Folded", "Inside."), "folded": True},
    ]
    return report.page("Planted labels", sections, about={"command": "eigenlabel demo"})


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "force-prefers-reduced-motion"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    yield driver
    driver.quit()


@pytest.fixture
def view(browser, content, tmp_path):
    path = report.write(content, tmp_path / "page.html")
    browser.set_window_size(1300, 1000)
    away = ActionChains(browser)  # the pointer of an earlier test may be on a label
    away.w3c_actions.pointer_action.move_to_location(2, 2)
    away.perform()
    browser.get(path.as_uri())
    WebDriverWait(browser, 10).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".map .label"))
    yield browser
    assert browser.get_log("browser") == []  # whatever a test did


def one(view, selector):
    return view.find_element(By.CSS_SELECTOR, selector)


def count(view, selector):
    return len(view.find_elements(By.CSS_SELECTOR, selector))


def texts(view, selector):
    found = view.find_elements(By.CSS_SELECTOR, selector)
    return [element.get_property("textContent") for element in found]


def centre(view, element):
    """Scroll an element to the middle of the window, because the toolbar covers the top."""
    how = "{block: 'center', behavior: 'instant'}"
    view.execute_script(f"arguments[0].scrollIntoView({how})", element)
    return element


def click(view, element):
    centre(view, element).click()


def hover(view, element):
    """Point at an element until its tooltip is visible; the pointer may already be there."""

    def shown(browser):
        ActionChains(browser).move_to_element(centre(view, element)).move_by_offset(1, 1).perform()
        return one(browser, "#tip").is_displayed()

    WebDriverWait(view, 10).until(shown)


def dot(view, name):
    data = "JSON.parse(document.getElementById('data').textContent)"
    index = view.execute_script(f"return {data}[1].names.indexOf(arguments[0])", name)
    return one(view, f".map .dot[data-index='{index}']")


def test_the_page_opens_without_requests(view):
    assert view.title == "Planted labels"
    assert view.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert count(view, ".map .dot") == count(view, ".scatter .dot") == N_LABELS
    assert count(view, ".curves .line") == 3


def test_the_policy_blocks_other_scripts(view):
    view.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.intruder = 1';"
        "document.body.append(s);"
    )
    assert view.execute_script("return window.intruder") is None
    log = view.get_log("browser")  # reading empties it
    assert "Content Security Policy" in log[0]["message"]


def test_names_that_look_like_scripts_are_text(view):
    assert NASTY in texts(view, ".per_label tbody th")
    assert any(NASTY in words for words in texts(view, "[data-curve] option"))
    assert view.execute_script("return document.querySelectorAll('script').length") == 2
    one(view, "#search").send_keys("<script")
    assert [words for words in texts(view, "#matches li") if NASTY in words]
    view.execute_script("arguments[0].focus()", dot(view, NASTY))
    assert one(view, "#tip b").text == NASTY  # an open alert would have raised by now


def test_the_search_lists_and_highlights_labels(view, content):
    one(view, "#search").send_keys("LABEL_1")
    names = [n for n in content["sections"][1]["names"] if "label_1" in n]
    assert count(view, "#matches li") == len(names) == 10
    assert one(view, "#match-count").text == f"10 of {N_LABELS} labels"
    assert count(view, ".map .dot.lit") == count(view, ".scatter .dot.lit") == 10
    assert set(texts(view, ".map .label")) <= set(names)
    shown = [
        r for r in view.find_elements(By.CSS_SELECTOR, ".per_label tbody tr") if r.is_displayed()
    ]
    assert {row.get_attribute("data-row") for row in shown} == set(names)
    one(view, "#search").send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    assert one(view, ".per_label tr.chosen").get_attribute("data-row") == names[1]
    assert names[1] in Select(one(view, "[data-curve]")).first_selected_option.text
    assert dot(view, names[1]).get_attribute("class") == "dot lit chosen"
    one(view, "#search").send_keys(Keys.ESCAPE)
    assert count(view, ".lit") == count(view, "tr.chosen") == 0


def neighbours_of(content, name):
    section = content["sections"][1]
    i = section["names"].index(name)
    return section["support"][i], [(section["names"][j], r) for j, r in section["neighbours"][i]]


@pytest.mark.parametrize("way", ["pointer", "keys"])
def test_a_label_shows_its_correlations(view, content, way):
    name = "label_20"
    circle = dot(view, name)
    if way == "pointer":
        hover(view, circle)
    else:
        view.execute_script("arguments[0].focus()", circle)
    support, near = neighbours_of(content, name)
    assert one(view, "#tip b").text == name
    assert f"{support} positives" in one(view, "#tip p").text
    assert texts(view, "#tip td:first-child") == [n for n, _ in near]
    found = [float(t.replace("\u2212", "-")) for t in texts(view, "#tip td.number")]
    np.testing.assert_allclose(found, [r for _, r in near], atol=6e-3)  # two decimals are shown
    assert count(view, ".map .dot.lit") == 6
    assert count(view, ".map .link") == 5
    ActionChains(view).send_keys(Keys.ESCAPE).perform()
    assert not one(view, "#tip").is_displayed()


def test_arrow_keys_move_the_focus_on_the_map(view):
    start = one(view, ".map .dot[tabindex='0']")
    view.execute_script("arguments[0].focus()", start)
    seen = {start.get_attribute("data-index")}
    for key in (Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ARROW_DOWN) * 2:
        ActionChains(view).send_keys(key).perform()
        here = view.switch_to.active_element
        assert here.get_attribute("tabindex") == "0"
        seen.add(here.get_attribute("data-index"))
    assert len(seen) >= 3
    assert count(view, ".map .dot[tabindex='0']") == 1  # one stop of the Tab key
    here.send_keys(Keys.ENTER)
    assert count(view, ".map .dot.chosen") == 1


def position(view):
    where = "(d) => [+d.getAttribute('cx'), +d.getAttribute('cy')]"
    return view.execute_script(f"return [...document.querySelectorAll('.map .dot')].map({where})")


def empty_spot(view, surface):
    """Return the offset from the middle of the map of a place without labels."""
    return view.execute_script(
        """
        const box = arguments[0].getBoundingClientRect();
        for (let x = -150; x <= 150; x += 15) {
          for (let y = -150; y <= 150; y += 15) {
            const [left, top] = [box.left + box.width / 2 + x, box.top + box.height / 2 + y];
            if (!document.elementFromPoint(left, top).closest(".dot")) return [x, y];
          }
        }
        """,
        surface,
    )


def test_the_map_can_be_zoomed_and_moved(view):
    before = np.array(position(view))
    click(view, one(view, "[data-zoom='1.5']"))
    near = np.array(position(view))
    np.testing.assert_allclose(
        np.ptp(near, axis=0), 1.5 * np.ptp(before, axis=0), rtol=1e-2
    )  # pixels
    surface = centre(view, one(view, ".map svg"))
    drag = ActionChains(view).move_to_element_with_offset(surface, *empty_spot(view, surface))
    drag.click_and_hold().move_by_offset(40, -30).release().perform()
    moved = np.array(position(view)) - near
    np.testing.assert_allclose(moved, np.broadcast_to([40, -30], moved.shape), atol=1.1)
    click(view, one(view, "[data-zoom='0']"))
    np.testing.assert_allclose(position(view), before, atol=0.2)


def test_the_wheel_zooms_only_if_the_map_has_the_focus(view):
    surface = one(view, ".map svg")
    centre(view, surface)
    spin = (
        "const e = new WheelEvent('wheel', {deltaY: -100, bubbles: true, cancelable: true});"
        "arguments[0].dispatchEvent(e); return e.defaultPrevented"
    )
    before = position(view)
    assert not view.execute_script(spin, surface)
    assert position(view) == before
    view.execute_script("arguments[0].focus()", surface)
    assert view.execute_script(spin, surface)
    assert position(view) != before


def test_axes_can_be_chosen(view, content):
    before = position(view)
    Select(one(view, "[data-axis='0']")).select_by_visible_text("support")
    order = [
        int(d.get_attribute("data-index")) for d in view.find_elements(By.CSS_SELECTOR, ".map .dot")
    ]
    x = np.array(position(view))[np.argsort(order), 0]
    support = np.array(content["sections"][1]["support"])
    assert (np.diff(x[np.argsort(support, kind="stable")]) >= 0).all()
    Select(one(view, "[data-axis='0']")).select_by_visible_text("eigenlabel 1")
    assert position(view) == before
    click(view, one(view, "[data-spread]"))
    assert position(view) != before


def test_names_on_the_map_do_not_overlap(view):
    boxes = view.execute_script(
        "return [...document.querySelectorAll('.map .label')].map((t) => {"
        " const b = t.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
    )
    assert len(boxes) >= 10
    for k, (left, top, right, bottom) in enumerate(boxes):
        for l2, t2, r2, b2 in boxes[:k]:
            apart = min(right, r2) - max(left, l2) < 1 or min(bottom, b2) - max(top, t2) < 1
            assert apart


def test_the_select_changes_the_curve(view, content):
    section = content["sections"][4]
    largest = section["names"][int(np.argmax(section["support"]))]
    select = Select(one(view, "[data-curve]"))
    assert select.first_selected_option.text.startswith(largest)
    before = one(view, ".curves .line.f1").get_attribute("d")
    name = "label_25"
    select.select_by_value(str(section["names"].index(name)))
    assert one(view, ".curves .line.f1").get_attribute("d") != before
    curve = section["curves"][section["names"].index(name)]
    predicted, hits = curve["at"]
    told = one(view, ".readout").text
    assert told.startswith(name)
    assert f"precision {hits / predicted:.3f}" in told
    assert f"{predicted} predicted" in told
    plot = one(view, ".curves svg")
    view.execute_script("arguments[0].focus()", plot)
    ActionChains(view).send_keys(Keys.ARROW_RIGHT).perform()
    assert one(view, ".readout").text != told


def test_clicking_a_label_shows_it_everywhere(view):
    chip = one(view, ".chip[data-label='label_20'], .chip")
    name = chip.get_attribute("data-label")
    click(view, chip)
    assert one(view, ".readout").text.startswith(name)
    assert one(view, ".per_label tr.chosen").get_attribute("data-row") == name
    assert texts(view, ".scatter .label") == [name]


@pytest.mark.parametrize("way", ["pointer", "keys"])
def test_tables_are_sorted_by_clicks_on_their_heads(view, way):
    def press(head):
        if way == "pointer":
            return click(view, head)
        view.execute_script("arguments[0].focus()", head)
        return ActionChains(view).send_keys(Keys.ENTER).perform()

    column = "#s0 td:nth-child(2)"
    head = one(view, "#s0 th:nth-child(2) .sort")
    press(head)
    assert texts(view, column) == ["0.750", "0.500", "\u2013"]
    press(head)
    assert texts(view, column) == ["0.500", "0.750", "\u2013"]  # unknown values come last
    assert one(view, "#s0 th:nth-child(2)").get_attribute("aria-sort") == "ascending"
    press(one(view, "#s0 th:nth-child(1) .sort"))
    assert texts(view, "#s0 td:nth-child(1)") == ["a", "b", "c"]
    press(one(view, ".per_label th:nth-child(2) .sort"))
    f1 = [float(t) for t in texts(view, ".per_label td:nth-child(2)")]
    assert f1 == sorted(f1, reverse=True)


def test_the_surface_can_show_one_dimension(view, content):
    section = content["sections"][2]
    Select(one(view, "[data-dimension]")).select_by_visible_text("1")
    shown = [float(t) for t in texts(view, ".heat td")]
    np.testing.assert_allclose(
        shown, np.ravel(section["scores"][0][::-1]), atol=6e-4
    )  # three decimals
    hover(view, one(view, ".heat td"))
    assert one(view, "#tip p").text == "alpha ∞, beta 0.01, n_components 1"


def background(view):
    return view.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_the_theme_follows_the_system_and_the_button(view):
    def prefer(theme):
        feature = {"name": "prefers-color-scheme", "value": theme}
        view.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        return background(view)

    light, dark = prefer("light"), prefer("dark")
    assert light != dark
    one(view, "#theme").click()
    assert background(view) == light
    one(view, "#theme").click()
    assert background(view) == dark
    view.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    assert background(view) == "rgb(255, 255, 255)"
    assert not one(view, "#theme").is_displayed()
    view.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 400, 800])
def test_narrow_screens_need_no_horizontal_scrolling(view, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    view.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        drawn = "return document.querySelector('.map svg').viewBox.baseVal.width"
        WebDriverWait(view, 10).until(lambda b: b.execute_script(drawn) < width)
        assert view.execute_script("return document.documentElement.scrollWidth") == width
    finally:
        view.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_tables_are_visible_without_scripts(browser, content, tmp_path):
    path = report.write(content, tmp_path / "page.html")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(path.as_uri())
        assert one(browser, ".per_label tbody tr").is_displayed()
        assert one(browser, ".heat td").is_displayed()
        assert one(browser, ".eigenlabels").size["height"] > 200
        assert "needs JavaScript" in one(browser, ".label_map noscript").text
        assert not one(browser, "#theme").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def bare_model(W):
    return SimpleNamespace(eigenlabels_=np.asarray(W, dtype=float), eigenvalues_=np.ones(len(W)))


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 1300])
def test_unusual_pages_are_shown_without_errors(browser, tmp_path, width):
    never, constant = np.array([[0], [0]]), np.array([[0.5], [0.5]])
    long = "x" * 300
    two = np.array([[1, 0], [0, 1]])
    sections = [
        report.label_map(bare_model(np.zeros((1, 0))), never, [long]),
        report.label_map(bare_model([[0.0]]), never, ["zero"]),
        report.label_map(bare_model([[0.6], [-0.8]]), two, ["a", "b"]),
        report.per_label(never, never, [long]),
        report.threshold_curves(never, constant, np.inf, [long]),
        report.threshold_curves(two, np.array([[1, -2], [-3, 4]]), [np.nan, -np.inf], ["a", "b"]),
        report.critical_difference([long], [1.0], 0.0),
        report.table(long, [long], [[long]], note=long),
        report.resources([]),
    ]
    path = report.write(report.page(long, sections, about={long: long}), tmp_path / "odd.html")
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get(path.as_uri())
        WebDriverWait(browser, 10).until(lambda b: count(b, ".curves svg") == 2)
        assert count(browser, ".curves .threshold") == 1  # NaN means no threshold
        every = "[...document.querySelectorAll('svg')].map((s) => s.outerHTML).join()"
        drawn = browser.execute_script(f"return {every}")
        assert "NaN" not in drawn
        assert "Infinity" not in drawn
        assert browser.execute_script("return document.documentElement.scrollWidth") == width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.get_log("browser") == []


def shown_details(view):
    found = view.find_elements(By.CSS_SELECTOR, ".detail")
    return [one.get_attribute("data-detail") for one in found if one.is_displayed()]


def test_a_click_on_a_label_anywhere_shows_its_features_and_mistakes(view):
    first = shown_details(view)
    assert len(first) == 1
    click(view, one(view, f".per_label button[data-label='{NASTY}']"))
    assert shown_details(view) == [NASTY]
    select = Select(one(view, "[data-detail-label]"))
    assert NASTY in select.first_selected_option.get_property("textContent")
    select.select_by_index(0)
    assert shown_details(view) == first


def test_a_click_on_a_sample_shows_the_reasons(view):
    mistake = one(view, ".detail.shown .mistake")
    assert not mistake.find_element(By.CSS_SELECTOR, ".sum").is_displayed()
    click(view, mistake.find_element(By.CSS_SELECTOR, "summary"))
    assert mistake.find_element(By.CSS_SELECTOR, ".sum .total").is_displayed()


INSIDE = """
const outer = arguments[0].getBoundingClientRect();
return [...arguments[0].querySelectorAll(arguments[1])].every((element) => {
  const inner = element.getBoundingClientRect();
  return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
});
"""


@pytest.mark.parametrize(
    ("box", "parts"),
    [
        (".surface .scroll:has(.heat)", ".heat td"),
        (".per_label .scroll", "thead th"),
        ("nav", "a"),
    ],
)
def test_nothing_is_cut_in_a_window_of_1200_pixels(view, box, parts):
    view.set_window_size(1200, 1000)
    assert view.execute_script(INSIDE, one(view, box), parts)
    nav = one(view, "nav")
    assert view.execute_script("return arguments[0].scrollHeight <= arguments[0].clientHeight", nav)


@pytest.mark.parametrize("dimensions", [[2], [1, 2]])
def test_the_heat_map_of_a_whole_grid_is_not_cut(browser, tmp_path, dimensions):
    data = el.datasets.make_shared_subspace(n_samples=100, n_labels=4, random_state=5)
    powers = [10.0**-k for k in range(7)]
    model = el.SharedSubspaceClassifierCV([0, *powers, np.inf], [0, *powers], dimensions)
    model.fit(data.X, data.Y)
    names = [f"facet::a-rather-long-name-{j}" for j in range(4)]
    sections = [
        report.surface(model),
        report.per_label(data.Y, model.predict(data.X), names),
    ]
    path = report.write(report.page("Grid", sections), tmp_path / "page.html")
    browser.set_window_size(1200, 1000)
    browser.get(path.as_uri())
    assert browser.execute_script(INSIDE, one(browser, ".scroll:has(.heat)"), ".heat td")
    assert browser.execute_script(INSIDE, one(browser, ".per_label .scroll"), "thead th")


def test_a_folded_section_opens(view):
    fold = one(view, ".fold")
    assert not fold.find_element(By.CSS_SELECTOR, ".prose").is_displayed()
    click(view, fold.find_element(By.CSS_SELECTOR, "summary"))
    assert fold.find_element(By.CSS_SELECTOR, ".prose").is_displayed()


TURNED = "abc \u202edef"  # everything after it runs from right to left, unless it is isolated


@pytest.fixture
def turned(browser, tmp_path):
    data = el.datasets.make_shared_subspace(n_samples=200, n_labels=6, random_state=5)
    names = [TURNED + str(j) for j in range(6)]
    model = el.SharedSubspaceClassifierCV(alphas=[0], betas=[0.1], n_components=[2])
    model.fit(data.X, data.Y)
    sections = [
        report.label_map(model, data.Y, names),
        report.per_label(data.Y, model.oof_scores_ > model.thresholds_, names),
        report.threshold_curves(data.Y, model.oof_scores_, model.thresholds_, names),
        report.critical_difference([TURNED + " very long" * 9, "b"], [1.25, 1.75], 0.1),
        report.curves(TURNED, ["1", "2"], {TURNED: [1.0, 2.0]}, x=TURNED, y="y"),
    ]
    path = report.write(report.page(TURNED, sections, subtitle=TURNED + " 12"), tmp_path / "t.html")
    browser.get(path.as_uri())
    WebDriverWait(browser, 10).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".map .label"))
    return browser


ORDERED = """
const [element, word] = arguments;
const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
const nodes = [];
while (walker.nextNode()) nodes.push(walker.currentNode);
const node = nodes.findLast((n) => n.data.includes(word));
const at = node.data.lastIndexOf(word);
const left = (k) => {
  const range = document.createRange();
  range.setStart(node, at + k);
  range.setEnd(node, at + k + 1);
  return range.getBoundingClientRect().left;
};
return left(0) < left(word.length - 1);
"""


@pytest.mark.parametrize(
    ("selector", "word"),
    [
        (".diagram g ~ text:has(tspan)", "1.25"),  # the rank next to a name in a drawing
        (".chip", "0."),  # the weight next to a name
        (".readout", "predicted"),  # written by the script
    ],
)
def test_a_name_does_not_reverse_the_text_next_to_it(turned, selector, word):
    found = next(e for e in turned.find_elements(By.CSS_SELECTOR, selector) if word in e.text)
    assert "abc" in found.get_property("textContent")
    assert turned.execute_script(ORDERED, found, word)


def test_a_search_result_does_not_reverse_its_count(turned):
    one(turned, "#search").send_keys("abc")
    item = one(turned, "#matches li")
    support = item.find_element(By.CSS_SELECTOR, "span").text
    assert len(support) > 1
    assert turned.execute_script(ORDERED, item, support)
