"""What single pages look like in Debian's chromium, and what they do."""

import pytest

from browsing import TOO_WIDE

#: A name of 120 characters without a blank.
LONG = "W" * 120
ADS = f"""MyType = "Job"
ClusterId = 1
ProcId = 0
Owner = "{LONG}"
JobStatus = 1
RequestCpus = 1
RequestMemory = 1
Requirements = true

MyType = "Machine"
Name = "slot@{LONG}"
Machine = "{LONG}"
Cpus = 1
Memory = 1
"""


@pytest.fixture(scope="module")
def hostile(serving, tmp_path_factory):
    """A client of the service over a pool with long names."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "pool.ads").write_text(ADS)
    command, client = serving("--pool", "pool.ads", cwd=folder)
    with command, client:
        yield client


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("path", ["/pool/hosts", "/pool/applications"])
def test_long_names_are_broken_everywhere(hostile, open_page, path, width):
    page = open_page(width)
    page.goto(f"{hostile.base_url}{path}")
    assert page.get_by_text("WWWW").count() > 0
    assert page.evaluate(TOO_WIDE) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_dark_in_the_dark_and_light_in_the_light(served, open_page, scheme):
    page = open_page(scheme=scheme)
    page.goto(f"{served}/pool")
    back, text = page.evaluate(
        "['backgroundColor', 'color'].map(key => getComputedStyle(document.body)[key].match(/\\d+/g).map(Number))"
    )
    assert (sum(back) < sum(text)) is (scheme == "dark")


def test_bars_are_as_wide_as_the_share_that_they_show(served, open_page):
    page = open_page()
    page.goto(f"{served}/pool")
    found = page.evaluate(
        """() => [...document.querySelectorAll('.bars li')].map(each => [
            parseInt(each.querySelector('.share').textContent),
            each.querySelector('.used').getBoundingClientRect().width / each.querySelector('svg').getBoundingClientRect().width
        ])"""
    )
    assert found
    for share, width in found:
        assert share <= width * 100 + 0.5
        assert width * 100 < share + 1.5


def test_by_keyboard_alone_a_queue_is_opened(served, open_page):
    page = open_page()
    page.goto(f"{served}/pool/queues")
    for key in ("Tab", "Enter", "Tab", "Enter"):  # to the contents, and to the first queue
        page.keyboard.press(key)
    page.wait_for_url("**/pool/queues/root")


def test_a_filter_is_sent_as_a_form_and_stays_in_its_fields(served, open_page):
    page = open_page()
    page.goto(f"{served}/pool/applications")
    page.get_by_label("User").fill("bob")
    page.keyboard.press("Enter")
    page.wait_for_url("**user=bob**")
    assert page.get_by_label("User").input_value() == "bob"
    users = page.locator("td[data-label=User]").all_inner_texts()
    assert users
    assert {each.split()[0] for each in users} == {"bob"}


@pytest.mark.parametrize(("width", "lines"), [(390, 3), (1100, 2), (1280, 2)])
def test_the_navigation_is_a_line_of_sections_and_one_of_their_pages(served, open_page, width, lines):
    """On a phone the pages of a section may need a second line."""
    page = open_page(width)
    for path, section, title in (
        ("/pool/hosts", "Pool", "Machines"),
        ("/pool/idle", "Why", "Idle jobs"),
        ("/pool/audit", "Administration", "Audit log"),
    ):
        page.goto(f"{served}{path}")
        assert page.locator("nav [aria-current]").all_inner_texts() == [section, title]
        tops = "new Set([...document.querySelectorAll('nav li')].map(each => each.getBoundingClientRect().top)).size"
        assert page.evaluate(tops) <= lines, path
