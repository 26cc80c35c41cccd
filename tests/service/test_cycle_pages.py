"""The pages of the last cycles: times of parts, effects of rules, shares, and plugins."""

import html
import re

import attrs
import pytest

from app_client import app_client
from negotiator.bundle.rules import bundle_rules
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.cycle_history import (
    CycleDetails,
    CycleEntry,
    CycleHistory,
    HolderShare,
    PluginUse,
    RuleEffect,
    with_cycle,
    write_history,
)
from negotiator.runtime.state import StateStore
from negotiator.service.overviews import Overviews
from negotiator.service.pages.views.cycles import cycles_view, parts_of
from negotiator.service.pages.views.sources import source_place
from negotiator.service.web_app import make_app

SLOT = 'MyType = "Machine"\nName = "slot1@m"\nMachine = "m"\nCpus = 1\nMemory = 1\n'
POLICIES = """\
policies:
  - name: busy
    applies_to: match
    expression: MY.Owner == "ann"
  - name: quiet
    applies_to: match
    expression: MY.Owner == "bob"
"""
EVIL = "<script>alert(1)</script>"
SECONDS = {
    "read": 0.5,
    "admit": 0.25,
    "cycle": 1.0,
    "match": 0.5,
    "record_intent": 0.25,
    "record_outcome": 0.25,
}
ENTRY = CycleEntry(
    number=7,
    begun=1000.0,
    ended=1004.0,
    bundle="",
    seconds=SECONDS,
    slots=10,
    jobs=2000,
    matches=3,
    unmatched=4,
    undelivered=0,
    limits_exceeded=1,
)
RULE = RuleEffect(
    station="match",
    plugin="expressions",
    rule="busy",
    source="pool.yaml:4:17",
    mode="warn",
    verdict="denied",
    code="job_constraint",
    text=f"busy {EVIL}",
    ads=0,
    requests=2,
    removed=1234,
    rejected=5678,
    warned=3,
    decisive=9,
)
SHARES = (
    HolderShare(
        holder="ann@example.org",
        unit="slots",
        priority=0.5,
        entitled=4.0,
        used_before=1.0,
        used=3.0,
        granted=2,
        waiting=11,
        code="c",
        text=f"because {EVIL}",
    ),
    HolderShare(
        holder="root.default",
        unit="slots",
        priority=0.0,
        entitled=1.0,
        used_before=0.0,
        used=2.0,
        granted=2,
        waiting=0,
    ),
)
USES = (
    PluginUse(
        name="expressions",
        version="1",
        calls=4,
        seconds=0.5,
        failures=1,
        slow_calls=2,
        is_off=False,
        last_failure=f"oops {EVIL}",
    ),
    PluginUse(
        name="observer",
        version="1",
        calls=8,
        seconds=1.5,
        failures=3,
        slow_calls=0,
        is_off=True,
        last_failure="",
    ),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cycles")
    (folder / "pool.ads").write_text(SLOT)
    (folder / "bundle").mkdir()
    (folder / "bundle" / "pool.yaml").write_text(POLICIES)
    with StateStore.open(folder / "state"):
        pass
    return folder


@pytest.fixture(scope="module")
def overviews(folder):
    overviews = Overviews(
        CommandTargets(bundle=folder / "bundle", pool=(folder / "pool.ads",), state=folder / "state")
    )
    overviews.refresh()
    return overviews


@pytest.fixture
def client(folder, overviews):
    digest = overviews.shown.overview.bundle.digest
    entry = attrs.evolve(ENTRY, bundle=digest)
    failed = attrs.evolve(ENTRY, number=0, failure=f"the pool did not answer {EVIL}", seconds={})
    details = CycleDetails(number=7, ended=1004.0, rules=(RULE,), shares=SHARES, plugins=USES)
    rules = bundle_rules(overviews.shown.overview.bundle).rules
    activity = with_cycle(with_cycle((), rules, {rules[0].digest}, 1002.0), rules, {rules[0].digest}, 1004.0)
    history = CycleHistory(cycles=(failed, entry), last=details, rules=activity)
    write_history(folder / "state", history)
    return app_client(make_app(overviews))


def words(client, page):
    answer = client.get(f"/pool/{page}")
    assert answer.status_code == 200, answer.text
    assert "<script" not in answer.text
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", answer.text)).split())


def test_the_parts_of_a_cycle_and_the_rest_are_all_of_its_time():
    found = parts_of(ENTRY)
    assert found["record"] == 0.5
    assert sum(found.values()) == 4.0
    assert found["other"] == 4.0 - 0.5 - 0.25 - 0.5 - 0.5
    longer = attrs.evolve(ENTRY, ended=1000.1)  # the clock was set back
    assert parts_of(longer)["other"] == 0.0


def test_bars_are_stacked_without_gaps_up_to_the_longest_cycle():
    half = attrs.evolve(ENTRY, ended=1002.0)
    view = cycles_view(CycleHistory(cycles=(half, ENTRY)))
    for bar, top in zip(view.line.bars, (50.0, 0.0), strict=True):
        edge = 100.0
        for part in bar.parts:
            assert part.top + part.height == pytest.approx(edge)
            edge = part.top
        assert edge == pytest.approx(top)
    assert view.line.most == "4 s"
    assert [each.number for each in view.rows.rows] == ["7", "7"]


def test_of_many_cycles_the_last_ones_are_shown():
    view = cycles_view(CycleHistory(cycles=tuple(attrs.evolve(ENTRY, number=n) for n in range(500))))
    assert len(view.line.bars) == view.count == 120
    assert [each.number for each in view.rows.rows] == [str(n) for n in range(499, 469, -1)]
    assert view.rows.more == 470


def test_the_page_of_cycles_has_a_picture_and_its_numbers(client):
    shown = words(client, "cycles")
    assert "cycle 7, 1970-01-01 00:16:44 UTC: 4.000 s: read 0.500, admit 0.250" in shown
    assert "cycle 0, 1970-01-01 00:16:44 UTC: failed: the pool did not answer" in shown
    assert "7 10 2,000 3 4 0 0 1" in shown
    text = client.get("/pool/cycles").text
    assert text.count('<rect class="part-match" x="10"') == 1
    assert text.count('class="part-failed"') == 1
    assert "style=" not in text


def test_rules_have_their_effect_with_mode_and_place_and_those_without_are_listed(client):
    text = words(client, "policies")
    effect, _, idle = text.partition("Without effect")
    assert "expressions: busy · pool.yaml:4:17 match denied warn only 2 1,234 5,678 3 9" in effect
    assert (
        'expressions: quiet MY.Owner == "bob" pool.yaml:7:17 enforce all 2 cycles since 1970-01-01 00:16:42 UTC'
        in idle
    )
    assert "pool.yaml:4:17" not in idle


@pytest.mark.parametrize(
    ("place", "href", "is_open"),
    [
        ("queues.yaml:12:3", "/pool/configuration#L12", True),
        ("site.conf:7", "/pool/configuration/files/site.conf#L7", False),
        ("a b/c:1:1", "/pool/configuration/files/a%20b%2Fc#L1", False),
        ("other.yaml:1:1", "", False),
        ("queues.yaml", "", False),
        ("", "", False),
    ],
)
def test_places_in_files_that_can_be_shown_are_links(place, href, is_open):
    found = source_place(place, {"queues.yaml": b"", "site.conf": b"", "a b/c": b""})
    assert (found.text, found.href, found.is_open) == (place, href, is_open)


def test_rules_of_an_earlier_bundle_are_marked_and_lead_nowhere(client, folder):
    assert "The bundle was changed after this cycle" not in words(client, "policies")
    details = CycleDetails(number=7, ended=1.0, rules=(RULE,), shares=(), plugins=())
    write_history(folder / "state", CycleHistory(cycles=(ENTRY,), last=details))
    text = words(client, "policies")
    assert "The bundle was changed after this cycle" in text
    assert "Without effect" not in text


def test_shares_say_who_got_what_and_why_the_others_wait(client):
    assert "ann@example.org decisions 0.50 4 slots 1 3 of 4 2 11 because" in words(client, "shares")
    text = client.get("/pool/shares").text
    assert 'href="/pool/decisions?user=ann%40example.org"' in text
    assert 'href="/pool/queues/root.default"' in text
    assert 'class="bar over"' in text


def test_plugins_have_time_calls_failures_and_whether_they_are_called(client):
    text = words(client, "plugins")
    assert text.index("observer 1") < text.index("expressions 1") < text.index("not called yet")
    assert "switched off" in text
    assert "called, with failures 0.500 4 125.000 1 2 oops" in text


def test_before_the_first_cycle_the_pages_say_so(client, folder):
    (folder / "state" / "cycles.json").unlink()
    for page in ("cycles", "policies", "shares", "plugins"):
        assert "Nothing is known of a cycle" in words(client, page)


def test_a_damaged_history_is_an_error_that_names_it(client, folder):
    (folder / "state" / "cycles.json").write_text("{}")
    answer = client.get("/pool/cycles")
    assert answer.status_code == 503
    assert "cannot read the last cycles" in answer.text
