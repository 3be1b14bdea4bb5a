"""The frame in the browser: both themes, a phone, an embedded page, and text that a reader can see."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import address, open_page, wait_idle

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Server

PHONE_HEIGHT = 844
BACKGROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 22, 29)"}
_LUMINANCE = """
(element, part) => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  let colour = getComputedStyle(element)[part];
  for (let up = element; part === 'backgroundColor' && /, 0\\)$|transparent/.test(colour) && up; up = up.parentElement)
    colour = getComputedStyle(up).backgroundColor;
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
    .map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
}
"""


def contrast(element: Locator) -> float:
    """WCAG contrast of an element's text on what is behind it."""
    text, behind = (float(element.evaluate(_LUMINANCE, part)) for part in ("color", "backgroundColor"))
    return (max(text, behind) + 0.05) / (min(text, behind) + 0.05)


def page_colour(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor"))


@pytest.mark.parametrize(("path", "charts"), [("/", 2), ("/cost", 4)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_drawn_and_readable(server: Server, page: Page, scheme: str, path: str, charts: int) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    open_page(page, f"{server.url}{path}")
    assert page_colour(page) == BACKGROUND[scheme]
    assert page.get_by_test_id("stPlotlyChart").count() == charts
    for text in (page.get_by_role("heading", level=2), page.locator(".st-key-verdict p span").first):
        assert contrast(text) >= 4.5


def test_a_live_change_of_theme_leaves_everything_readable(server: Server, page: Page) -> None:
    page.emulate_media(color_scheme="light")
    open_page(page, server.url)
    swatches = page.locator("table").first.inner_html()
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(500)
    wait_idle(page)
    assert page_colour(page) == BACKGROUND["dark"]
    for cell in page.locator("tbody th[scope=row]").all():
        assert contrast(cell) >= 4.5
    assert contrast(page.get_by_role("heading", level=2)) >= 4.5
    assert page.locator("table").first.inner_html() != swatches, "platforms keep the colours of the other theme"


@pytest.mark.parametrize("path", ["/", "/cost"])
def test_the_first_view_of_a_phone(server: Server, phone: Page, path: str) -> None:
    open_page(phone, f"{server.url}{path}")
    order = [
        phone.get_by_role("heading", level=2),
        *(phone.get_by_test_id("stMainBlockContainer").locator("input[type=range]").nth(i) for i in range(3)),
    ]
    if path == "/":
        order.append(phone.locator("tbody tr").first.locator("td").first)  # the first platform's cash
    places = [element.bounding_box() for element in order]
    assert all(places)
    tops = [place["y"] for place in places if place]
    assert tops == sorted(tops)
    last = places[-1]
    assert last is not None and last["y"] + 20 <= PHONE_HEIGHT and last["x"] + last["width"] <= 390
    assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_phone_goes_from_page_to_page_inside_the_page(server: Server, phone: Page) -> None:
    open_page(phone, f"{server.url}/?chips=256")
    phone.locator(".st-key-page_links").get_by_role("link", name="Cost").click()
    phone.wait_for_url("**/cost**")
    wait_idle(phone)
    assert "chips=256" in address(phone)


def test_an_embedded_page_is_the_answer_alone(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?embed=true&chips=256")
    assert page.get_by_test_id("stTopNavLink").count() == 0
    assert page.get_by_test_id("stSidebar").get_by_text("Preset").count() == 0
    assert page.get_by_role("heading", level=2).is_visible()
    assert page.get_by_test_id("stPlotlyChart").count() == 2
    assert "embed=true" in address(page) and "chips=256" in address(page)
    page.get_by_test_id("stMainBlockContainer").locator("input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    wait_idle(page)
    assert "embed=true" in address(page) and "chips=256" not in address(page)
    whole = page.get_by_role("link", name="Open with all settings").get_attribute("href") or ""
    assert "embed" not in whole and "chips=" in whole and "cash=" not in whole


@pytest.mark.parametrize(
    ("path", "charts", "sliders"),
    [("/", 2, 3), ("/cost", 4, 3), ("/scaling", 4, 3), ("/migration", 1, 3), ("/evidence", 2, 0)],
)
def test_in_a_frame_a_page_is_answer_sliders_charts_and_one_way_out(
    server: Server, page: Page, phone: Page, path: str, charts: int, sliders: int
) -> None:
    for window in (page, phone):
        if window is page:
            window.set_viewport_size({"width": 800, "height": 600})
        open_page(window, f"{server.url}{path}?embed=true&embed_options=dark_theme")
        assert page_colour(window) == BACKGROUND["dark"]
        for around in ("stSidebar", "stToolbar", "stTopNavLink", "stPageLink", "stExpander", "stPopover"):
            assert window.get_by_test_id(around).filter(visible=True).count() == 0, around
        main = window.get_by_test_id("stMainBlockContainer")
        assert main.get_by_test_id("stPlotlyChart").count() == charts
        assert main.locator(".crc").count() == charts + (path == "/scaling")  # its plan is a picture too
        assert main.locator("input[type=range]").count() == sliders
        top = window.get_by_role("heading", level=2).bounding_box()
        assert top is not None and top["y"] < 40
        assert window.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth <= window.innerWidth")
        for way in main.locator("a[href]").filter(visible=True).all():
            assert way.get_attribute("target") == "_blank", "a frame must not be led elsewhere"
        assert main.get_by_role("link", name="Open with all settings").count() == 1


def test_the_desktop_page_does_not_scroll_sideways(server: Server, page: Page) -> None:
    for path in ("/", "/cost"):
        open_page(page, f"{server.url}{path}")
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth <= 1152 + 1")


def test_sliders_and_inputs_have_names(server: Server, page: Page) -> None:
    open_page(page, server.url)
    assert page.get_by_test_id("stException").count() == 0
    unnamed = page.evaluate("""
        [...document.querySelectorAll('input, button, [role=slider]')]
          .filter(e => e.offsetParent && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby'))
          .filter(e => !e.textContent.trim() && !e.labels?.length)
          .map(e => e.outerHTML.slice(0, 120))
    """)
    assert unnamed == []
    sliders = page.get_by_test_id("stMainBlockContainer").locator("input[type=range]")
    assert [slider.get_attribute("aria-label") for slider in sliders.all()] == ["Chips", "MFU reached", "Budget"]


def test_the_strip_is_low(server: Server, page: Page, phone: Page) -> None:
    open_page(page, server.url)
    strip = page.locator(".st-key-strip").bounding_box()
    assert strip is not None and strip["height"] <= 106
    open_page(phone, server.url)
    names = ("Reset", "Copy link")
    row = [phone.locator(".st-key-strip").get_by_role("button", name=name).bounding_box() for name in names]
    row.append(phone.locator(".st-key-w_match").bounding_box())
    middles = [box["y"] + box["height"] / 2 for box in row if box]
    assert len(middles) == 3 and max(middles) - min(middles) < 6, "Match, Reset and Copy link share a row"


def test_a_chart_says_what_it_shows(server: Server, page: Page) -> None:
    open_page(page, server.url)
    for chart in page.get_by_test_id("stPlotlyChart").all():
        described = chart.evaluate(
            "e => (e.closest('[aria-label]') || e.querySelector('[aria-label]'))?.getAttribute('aria-label')"
        )
        assert described and len(described) > 20


def save_menu(page: Page, chart: str) -> Locator:
    """The open menu of a chart's card."""
    page.locator(f".st-key-open_save_{chart} button").click()
    menu = page.get_by_test_id("stPopoverBody")
    menu.get_by_role("button").first.wait_for()
    wait_idle(page)  # a click while the page is still made would be lost
    return menu


def saved(page: Page, button: Locator) -> tuple[str, bytes]:
    """Name and content of the file that a click brings."""
    with page.expect_download() as waiting:
        button.click()
    return waiting.value.suggested_filename, waiting.value.path().read_bytes()


def test_a_chart_can_be_saved_as_table_picture_and_drawing(server: Server, page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    open_page(page, server.url)
    menu = save_menu(page, "cost_time")
    name, table = saved(page, menu.get_by_role("button", name="Table (CSV)"))
    assert re.fullmatch(r"cost-time-\d{4}-\d\d-\d\d[.\d]*\.csv", name)
    rows = table.decode("utf-8-sig").splitlines()
    assert len(rows) > 6 and "," in rows[0]
    name, picture = saved(page, menu.get_by_role("button", name="Picture (PNG)"))
    assert name.endswith(".png") and picture.startswith(b"\x89PNG")
    name, drawing = saved(page, menu.get_by_role("button", name="Drawing (SVG)"))
    text = drawing.decode()
    assert name.endswith(".svg") and "<svg" in text
    assert "rgb(255, 255, 255)" in text, "a picture is drawn for paper, whatever the reader's theme"
    for words in (
        page.locator(".st-key-card_cost_time strong").first.inner_text(),
        "Llama 3.1 70B",
        "snapshot",
        "s=1.",
    ):
        assert words in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_card_says_of_what_from_when_and_where_it_is_had_again(server: Server, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for path, cards in (("/?chips=256", 2), ("/cost?chips=256", 4), ("/scaling?chips=256", 5)):
        open_page(page, server.url + path)
        feet = page.locator('[class*="st-key-card_"] .crc')
        assert feet.count() == cards
        for foot in feet.all():
            text = foot.inner_text()
            assert all(words in text for words in ("256 × TPU v5p", "Llama 3.1 70B", "2026", "snapshot", "?s=1."))
            assert contrast(foot) >= 4.5 and contrast(foot.locator("a")) >= 4.5
            size = float(foot.evaluate("e => parseFloat(getComputedStyle(e).fontSize)"))
            assert size >= 11
    short = page.locator(".crc a").first.get_attribute("href") or ""
    open_page(page, short)
    assert "chips=256" in address(page) and page.get_by_test_id("stAlert").count() == 0


def test_the_overview_fits_one_screen_with_table_and_both_charts(server: Server, page: Page) -> None:
    open_page(page, server.url)
    for key in ("cost_time", "flip"):
        box = page.locator(f".st-key-card_{key}").bounding_box()
        assert box is not None and box["y"] + box["height"] <= 900
