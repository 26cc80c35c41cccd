"""What a notebook shows: small, escaped, and readable in light and dark."""

import json
import re
from pathlib import Path

import pytest

import negotiator as n
from browsing import ARGUMENTS
from debian import ProgramMissingError, program
from pools import job, slot, write_ads

NOW = 1_800_000_000.0
ROOT = Path(__file__).parents[2]
EXAMPLE, POLICIES = ROOT / "examples", ROOT / "policies"
EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>&\u202e\u0007'


@pytest.fixture
def hostile(tmp_path):
    """Whatever the texts and names of ads are, and what is made of them, by its name."""
    name = EVIL.replace('"', '\\"')
    write_ads(
        tmp_path / "pool.ads",
        slot(0, Name=f'"{name}"', State=f'"{name}"'),
        job(0, Owner=f'"{name}"', User=f'"{name}"', Cmd=f'"{name}"'),
        job(1, Owner=f'"{name}"', User=f'"{name}"', Requirements=f'TARGET.State == "x{name}"'),
    )
    ad = {"MyType": "Machine", "Name": f"b{EVIL}", "State": EVIL, "<b onclick='x'>": 1}
    (tmp_path / "more.json").write_text(json.dumps([ad]))
    pool = n.read_pool(tmp_path)
    result = n.run(pool, now=NOW)
    odd = next(each for each in pool.slots.columns if each.startswith("<b"))
    return {
        "pool": pool,
        "slots": pool.slots,
        "odd": pool.slots.select(odd),
        "jobs": pool.jobs,
        "written": pool.jobs.select("Requirements").as_written(),
        "result": result,
        "matches": result.matches,
        "denials": result.denials,
        "why": result.explain("1.1"),
        "got": result.explain("1.0"),
        "policy": result.policy,
        "ledger": n.Ledger({EVIL: 1}),
    }


def test_html_of_hostile_ads_has_the_tags_of_the_program_only(hostile):
    for name, each in hostile.items():
        html = each._repr_html_()
        tags = set(re.findall(r"<[^>]*>", html))
        assert {tag.split()[0].strip("</>") for tag in tags} <= {
            *("div", "strong", "span", "table", "thead", "tbody", "tr", "th", "td")
        }, name
        assert all(re.fullmatch(r'</?\w+( style="[\w\s:;%.,-]*")?>', tag) for tag in tags), name
    assert "&lt;script&gt;" in hostile["slots"]._repr_html_()
    assert "&lt;b onclick=" in hostile["odd"]._repr_html_()


def test_text_of_hostile_ads_has_no_control_characters(hostile):
    for name, each in hostile.items():
        assert all(line.isprintable() for line in str(each).splitlines()), name
        assert "\u202e" not in each._repr_html_(), name


def test_large_pools_print_their_first_rows_and_columns(tmp_path):
    more = {f"Attribute{number}": '"x"' for number in range(50)}
    write_ads(tmp_path / "slots.ads", *(slot(number, **more) for number in range(500)))
    slots = n.read_pool(tmp_path / "slots.ads").slots
    lines = str(slots).splitlines()
    assert lines[0].startswith("500 slots, ")
    assert lines[0].endswith("; here the first 10 rows and 4 columns")
    assert len(lines) == 13
    assert len(slots._repr_html_()) < 10_000
    shown = str(slots.select(*(f"Attribute{number}" for number in range(20)))).splitlines()
    assert shown[2].split() == [f"Attribute{number}" for number in range(8)]


def test_a_long_cell_is_cut_in_a_table_and_complete_in_an_explanation(tmp_path):
    requirements = " && ".join(f"TARGET.Memory > {number}" for number in range(9000, 9015))
    write_ads(tmp_path / "pool.ads", slot(0), job(0, Requirements=f"({requirements}) =?= true"))
    result = n.run(n.read_pool(tmp_path), now=NOW)
    assert max(map(len, str(result.denials).splitlines())) < 200
    assert requirements[:200] in str(result.explain("1.0"))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_in_a_terminal_cells_are_wrapped_and_names_are_not_broken(hostile, monkeypatch, width):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    result = n.run(n.read_pool(EXAMPLE / "first-pool"), n.load_bundle(POLICIES / "limits"), now=NOW)
    for each in (result, result.denials, result.explain("18.1"), *hostile.values()):
        lines = repr(each).splitlines()
        assert max(map(len, lines)) <= width
        assert all(line.isprintable() for line in lines)
    words = {*repr(result.denials).split()}
    assert {"18.1", "tester"} <= words
    assert width < 80 or {"root.default", "denied", "waiting"} <= words
    assert width < 120 or "(queues.yaml:10:13)" in words
    assert ("too narrow" in repr(result.pool.jobs)) is (width < 100)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    try:
        chromium = program("chromium", "chromium", "fonts-dejavu-core")
    except ProgramMissingError as error:
        pytest.skip(str(error))
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=[*ARGUMENTS])
        yield opened
        opened.close()


def contrast(page):
    """Return the lowest contrast between a text and the background of the page."""
    return page.evaluate(
        """() => {
            const channel = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            const light = colour => {
                const [red, green, blue] = colour.match(/[\\d.]+/g).map(each => channel(each / 255));
                return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
            };
            const back = light(getComputedStyle(document.body).backgroundColor);
            return Math.min(...[...document.querySelectorAll('body *')].map(each => {
                const text = light(getComputedStyle(each).color);
                return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
            }));
        }"""
    )


@pytest.mark.parametrize(("text", "back"), [("#111111", "#ffffff"), ("#dddddd", "#111111")])
def test_a_browser_runs_nothing_of_an_ad_and_shows_it_in_the_colours_of_the_notebook(
    browser, hostile, text, back
):
    page = browser.new_page(viewport={"width": 900, "height": 700})
    shown = "".join(each._repr_html_() for each in hostile.values())
    page.set_content(
        f"<title>notebook</title><body style='color:{text};background-color:{back}'>{shown}</body>"
    )
    assert page.title() == "notebook"
    assert page.locator("img, script, b").count() == 0
    assert page.get_by_text("<script>document.title=2</script>").count() > 0
    assert contrast(page) > 7
    page.set_viewport_size({"width": 500, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()
