"""The page of ``negotiator report`` in Debian's chromium: a month with many users and rules, and hostile names."""

import pytest
from click.testing import CliRunner

from audited_month import write_month
from browsing import TOO_WIDE, Complaints, violations
from negotiator.cli import main

#: Pairs of labels of a chart that overlap.
OVERLAPS = """() => {
    const labels = [...document.querySelectorAll('.x, .y, .end, .flow li')].filter(each => each.checkVisibility());
    const boxes = labels.map(each => [each.textContent.trim(), each.closest('.plot, ol'), each.getBoundingClientRect()]);
    return boxes.flatMap(([text, chart, a], n) => boxes.slice(n + 1)
        .filter(([, other, b]) => chart === other && a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1)
        .map(([more]) => [text, more]));
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    log = write_month(folder / "log")
    done = CliRunner().invoke(
        main, ["report", str(folder / "x.html"), "--audit-log", str(log), "--month", "2026-11"]
    )
    assert done.exit_code == 0, done.output
    return (folder / "x.html").as_uri()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_report_is_readable_on_a_phone_and_a_screen(address, browser, width):
    """Nothing overlaps, is too wide, or is loaded, in light and in dark."""
    page = browser.new_page(viewport={"width": width, "height": 844})
    complaints, requests = Complaints(page), []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    assert (complaints.found, requests) == ([], [address])
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TOO_WIDE) == []
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, ["color-contrast"]) == []
    page.close()
