"""The pages in a real browser: Debian's chromium, driven by playwright.

Both are optional (``apt install chromium``, ``pip install playwright``): the package has 160 MB, too much for every run of the tests.
"""

import shutil

import pytest

CHROMIUM = shutil.which("chromium")
PATHS = (
    *("/pool", "/pool/queues", "/pool/queues/root.physics", "/pool/usage", "/pool/hosts"),
    *("/pool/applications", "/pool/configuration"),
)
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
#: Elements that are wider than the window, or whose contents are cut off.
TOO_WIDE = """() => [...document.querySelectorAll('body *')]
    .filter(each => each.getBoundingClientRect().right > window.innerWidth + 0.5 && !each.closest('.skip'))
    .map(each => each.outerHTML.slice(0, 120))"""
#: The lowest contrast of a text with what is behind it, as WCAG 2 defines it, and that text.
CONTRAST = """() => {
    const parts = text => text.match(/[\\d.]+/g).map(Number);
    const light = text => {
        const [r, g, b] = parts(text).slice(0, 3).map(each => each / 255)
            .map(each => each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = element => {
        for (let each = element; each; each = each.parentElement) {
            const colour = getComputedStyle(each).backgroundColor;
            if (parts(colour)[3] !== 0) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    let lowest = [21, ''];
    for (const each of document.querySelectorAll('body *')) {
        if (![...each.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
        const [one, other] = [light(getComputedStyle(each).color), light(behind(each))];
        const found = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (found < lowest[0]) lowest = [found, each.outerHTML.slice(0, 120)];
    }
    return lowest;
}"""


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright (a Python package) is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS])
        yield started
        started.close()


@pytest.fixture(params=["light", "dark"])
def phone(request, browser):
    """A window as wide as a phone, in the light or in the dark."""
    page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme=request.param)
    yield page
    page.close()


@pytest.fixture
def window(browser):
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    yield page
    page.close()


@pytest.fixture(scope="module")
def hostile(serving, tmp_path_factory):
    """A client of the service over a pool with names of 120 characters without a blank."""
    folder, name = tmp_path_factory.mktemp("hostile"), "W" * 120
    (folder / "pool.ads").write_text(
        f'MyType = "Job"\nClusterId = 1\nProcId = 0\nOwner = "{name}"\nJobStatus = 1\nRequestCpus = 1\nRequestMemory = 1\nRequirements = true\n\n'
        f'MyType = "Machine"\nName = "slot@{name}"\nMachine = "{name}"\nCpus = 1\nMemory = 1\n'
    )
    command, client = serving("--pool", "pool.ads", cwd=folder)
    with command, client:
        yield client


@pytest.mark.parametrize("path", ["/pool/hosts", "/pool/applications"])
def test_long_names_are_broken_everywhere(hostile, phone, window, path):
    for page in (phone, window):
        page.goto(f"{hostile.base_url}{path}")
        assert page.get_by_text("WWWW").count() > 0
        assert page.evaluate(TOO_WIDE) == []


@pytest.mark.parametrize("path", PATHS)
def test_on_a_phone_nothing_is_wider_than_the_window_and_every_text_can_be_read(lively, phone, path):
    phone.goto(f"{lively.base_url}{path}")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.evaluate(TOO_WIDE) == []
    contrast, text = phone.evaluate(CONTRAST)
    assert contrast >= 4.5, text


@pytest.mark.parametrize("width", [320, 720, 1024, 1130])
def test_nothing_is_wider_than_windows_between_a_phone_and_a_screen(lively, window, width):
    window.set_viewport_size({"width": width, "height": 800})
    for path in PATHS:
        window.goto(f"{lively.base_url}{path}")
        assert window.evaluate(TOO_WIDE) == [], path


def test_it_is_dark_in_the_dark_and_light_in_the_light(lively, phone):
    phone.goto(f"{lively.base_url}/pool")
    back, text = phone.evaluate(
        "['backgroundColor', 'color'].map(key => getComputedStyle(document.body)[key].match(/\\d+/g).map(Number))"
    )
    is_dark = phone.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert (sum(back) < sum(text)) is is_dark


def test_the_browser_finds_nothing_that_the_policy_forbids(lively, window):
    complaints = []
    window.on("console", lambda line: complaints.append(line.text))
    window.on("pageerror", lambda error: complaints.append(str(error)))
    window.on("response", lambda answer: complaints.extend([answer.url] if answer.status >= 400 else []))
    for path in PATHS:
        window.goto(f"{lively.base_url}{path}")
    assert complaints == []


def test_bars_are_as_wide_as_the_share_that_they_show(lively, window):
    window.goto(f"{lively.base_url}/pool")
    found = window.evaluate(
        """() => [...document.querySelectorAll('.bars li')].map(each => [
            parseInt(each.querySelector('.share').textContent),
            each.querySelector('.used').getBoundingClientRect().width / each.querySelector('svg').getBoundingClientRect().width
        ])"""
    )
    assert found
    for share, width in found:
        assert share <= width * 100 + 0.5
        assert width * 100 < share + 1.5


def test_by_keyboard_the_first_stop_skips_to_the_contents_and_the_focus_is_seen(lively, window):
    window.goto(f"{lively.base_url}/pool/queues")
    window.keyboard.press("Tab")
    assert window.evaluate("document.activeElement.textContent") == "Skip to the contents"
    assert window.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    window.keyboard.press("Enter")
    window.keyboard.press("Tab")
    assert window.evaluate("document.activeElement.closest('main') !== null")
    assert window.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    window.keyboard.press("Enter")
    window.wait_for_url("**/pool/queues/root")


def test_a_filter_is_sent_as_a_form_and_stays_in_its_fields(lively, window):
    window.goto(f"{lively.base_url}/pool/applications")
    window.get_by_label("User").fill("bob")
    window.keyboard.press("Enter")
    window.wait_for_url("**user=bob**")
    assert window.get_by_label("User").input_value() == "bob"
    users = window.locator("td[data-label=User]").all_inner_texts()
    assert users
    assert {each.split()[0] for each in users} == {"bob"}
