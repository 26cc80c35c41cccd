"""What holds for every page that the navigation leads to, in Debian's chromium."""

import pytest

from browsing import FOCUSABLE, FOCUSED, TOO_WIDE, Complaints, violations

#: Tab is pressed this many times at most: lists of hundreds of links are alike.
STOPS = 30


def test_the_navigation_leads_to_pages_of_several_kinds(paths):
    assert {"/pool", "/pool/queues", "/pool/queues/root"} <= set(paths)
    assert any(path.startswith("/pool/applications?user=") for path in paths)
    assert len(paths) == len(set(paths))


def test_no_page_breaks_the_content_policy_or_requests_what_is_missing(served, paths, open_page):
    page = open_page()
    complaints = Complaints(page)
    for path in paths:
        page.goto(served + path)
    assert complaints.found == []


@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_violation(served, paths, open_page, width):
    page, found = open_page(width), []
    for path in paths:
        page.goto(served + path)
        found += violations(page)
        page.emulate_media(color_scheme="dark")
        found += violations(page, ["color-contrast"])  # the only rule that colours matter to
        page.emulate_media(color_scheme="light")
    assert found == []


def test_nothing_is_wider_than_the_window_from_a_phone_to_a_screen(served, paths, open_page):
    page = open_page()
    for path in paths:
        page.goto(served + path)
        for width in (320, 390, 720, 1024, 1130, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert page.evaluate(TOO_WIDE) == [], (path, width)


@pytest.mark.parametrize("width", [390, 1280])
def test_by_keyboard_everything_is_reached_in_the_order_of_the_page_and_the_focus_is_seen(
    served, paths, open_page, width
):
    page = open_page(width)
    for path in paths:
        page.goto(served + path)
        stops = page.evaluate(FOCUSABLE)
        for number, stop in enumerate(stops[:STOPS]):
            page.keyboard.press("Tab")
            assert page.evaluate(FOCUSED) == [number, True, True], f"{path}: {stop}"


def test_the_first_stop_of_every_page_skips_to_its_contents(served, paths, open_page):
    page = open_page()
    for path in paths:
        page.goto(served + path)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the contents"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
