"""``negotiator report``: one page of HTML that loads nothing, from whatever sources there are."""

import html
import re
import stat
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from audited_month import BEGUN, DAY, HOSTILE, HOUR, cycle, reason, write_month
from negotiator.app.period_report import BlockedJobs
from negotiator.audit.log import AuditLog
from negotiator.audit.values import instant
from negotiator.cli import main
from negotiator.cli.html.bands import bands
from negotiator.cli.html.charts import number_scale, spread, time_ticks, width_text
from negotiator.cli.options import MONTH
from negotiator.runtime.cycle_history import (
    CycleDetails,
    CycleEntry,
    CycleHistory,
    HolderShare,
    write_history,
)
from negotiator.runtime.state import StateStore
from pools import job, slot, write_ads

#: Elements and attributes that would run or load something.
ACTIVE = {
    "script",
    "iframe",
    "object",
    "embed",
    "link",
    "img",
    "use",
    "image",
    "a",
    "base",
    "form",
    "meta-refresh",
}
LOADING = {"src", "href", "xlink:href", "action", "data", "srcset", "poster"}


class Elements(HTMLParser):
    """The elements of a page, with their attributes, and its texts."""

    def __init__(self, page):
        super().__init__()
        self.found, self.texts, self.open = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


def ask(*words):
    return CliRunner().invoke(main, ["report", *map(str, words)])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def log(folder):
    return write_month(folder / "log")


@pytest.fixture
def state(folder):
    """The state of a negotiator after two cycles, of which one failed."""
    StateStore.open(folder / "state").close()
    share = HolderShare(
        holder=HOSTILE,
        unit="slots",
        priority=1.0,
        entitled=40.0,
        used_before=50.0,
        used=60.0,
        granted=1,
        waiting=7,
        code="c",
        text="too much",
    )
    seconds = {"read": 0.25, "match": 0.5}
    entries = [
        CycleEntry(number=1, begun=BEGUN, ended=BEGUN + 1, bundle="b", seconds=seconds, slots=9),
        CycleEntry(
            number=2, begun=BEGUN + 60, ended=BEGUN + 61, bundle="b", seconds={}, failure="the disk is full"
        ),
    ]
    details = CycleDetails(number=1, ended=BEGUN + 1, rules=(), shares=(share,), plugins=())
    write_history(folder / "state", CycleHistory(cycles=tuple(entries), last=details))
    return folder / "state"


@pytest.fixture
def pool(folder):
    running = job(1, JobStatus="2", Owner='"ada"', User='"ada@d"', RemoteHost='"s0@h"')
    used = slot(
        0,
        State='"Claimed"',
        RemoteOwner='"ada@d"',
        RemoteUser='"ada@d"',
        JobId='"1.1"',
        GlobalJobId='"h#1.1#1"',
    )
    write_ads(
        folder / "pool.ads", used, slot(1), running, job(2, ClusterId="2", Owner='"bob"', User='"bob@d"')
    )
    return folder / "pool.ads"


def page_of(*words):
    done = ask("report.html", *words)
    assert done.exit_code == 0, done.output
    return Path("report.html").read_text(encoding="utf-8")


def test_the_page_has_what_all_sources_have(log, state, pool):
    page = page_of("--audit-log", log, "--state", state, "--pool", pool, "--month", "2026-11")
    headings = re.findall(r"<h2[^>]*>([^<]+)", page)
    assert headings == [
        "Slots, running jobs and jobs that wait",
        "Running jobs, by user",
        "Running jobs, by queue",
        "Slots handed out, by user",
        "Slots handed out, by queue",
        "What blocks whom",
        "Shares against use, in cycle 1",
        "Use of the pool now",
        "Jobs now, by user",
        "Jobs now, by queue",
        "Times of the last cycles",
    ]
    assert "uses 60 of 40" in page
    assert "7 jobs wait: too much" in page
    assert "1 running, 0 idle" in page
    assert "the disk is full" in page


def test_it_runs_nothing_and_loads_nothing(log, state):
    elements = Elements(page_of("--audit-log", log, "--state", state, "--month", "2026-11")).found
    assert {tag for tag, _ in elements} & ACTIVE == set()
    names = {name for _, attributes in elements for name in attributes}
    assert names & LOADING == set()
    assert [name for name in names if name.startswith("on")] == []
    styles = page_of("--audit-log", log)
    assert re.findall(r"url\(|@import|https?://", styles) == []


def test_names_that_try_to_be_html_are_texts(log, state):
    page = page_of("--audit-log", log, "--state", state, "--month", "2026-11", "--title", HOSTILE)
    assert HOSTILE not in page
    assert page.count(html.escape(HOSTILE, quote=False).split("'")[0]) > 5
    assert any(HOSTILE in text for text in Elements(page).texts)


def test_every_picture_has_a_title_and_a_description_and_a_table(log, state, pool):
    page = page_of("--audit-log", log, "--state", state, "--pool", pool, "--month", "2026-11")
    pictures = re.findall(r"<svg(?=[^>]*role=\"img\").*?</svg>", page, re.DOTALL)
    assert len(pictures) > 8
    assert [each[:90] for each in pictures if not ("<title" in each and "<desc" in each)] == []
    sections = re.findall(r"<section.*?</section>", page, re.DOTALL)
    assert [each[:60] for each in sections if "<table" not in each and 'class="rows"' not in each] == []


def test_a_cycle_is_a_report_of_its_own(folder):
    with AuditLog.open(folder / "log", rotate_bytes=10**6) as opened:
        for number, user in enumerate(["ada-1", "bob-2", "eve-3"], 1):
            opened.append(cycle(number, matches=[user], denials=[("zoe", number, reason(f"rule{number}"))]))
    page = page_of("--audit-log", "log", "--cycle", 2)
    assert [name in page for name in ("ada-1", "bob-2", "eve-3")] == [False, True, False]
    assert "queues.yaml:3:5 rule2" in page
    assert "rule1" not in page


def test_a_month_and_a_time_are_bounded(folder):
    with AuditLog.open(folder / "log", rotate_bytes=10**6) as opened:
        for number, (time, user) in enumerate(
            [(BEGUN - HOUR, "ada-1"), (BEGUN, "bob-2"), (BEGUN + 30 * DAY, "eve-3")], 1
        ):
            opened.append(cycle(number, matches=[user], time=time))
    for words in (("--month", "2026-11"), ("--since", "2026-11-01", "--until", "2026-12-01")):
        page = page_of("--audit-log", "log", *words)
        assert [name in page for name in ("ada-1", "bob-2", "eve-3")] == [False, True, False]


def test_a_month_ends_with_it():
    ends = [MONTH.convert(text, None, None)[1] for text in ("2026-11", "2026-12", "2028-02")]
    assert [instant(end)[:10] for end in ends] == ["2026-12-01", "2027-01-01", "2028-03-01"]


def test_like_the_log_the_page_is_not_for_everybody(log):
    page_of("--audit-log", log, "--month", "2026-11")
    assert stat.S_IMODE(Path("report.html").stat().st_mode) == 0o640


def test_what_is_missing_is_named_and_left_out(state):
    done = ask("report.html", "--state", state)
    page = Path("report.html").read_text(encoding="utf-8")
    assert done.exit_code == 0
    assert "There is no audit log" in done.stderr
    assert "What blocks whom" not in page
    assert "There is no audit log" in page


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["x.html"], 2, "There is no audit log"),
        (["x.html", "--audit-log", "log", "--month", "2026-13"], 2, "is not a month"),
        (["x.html", "--audit-log", "log", "--month", "2020-01"], 1, "no cycle in this time"),
        (["x.html", "--audit-log", "log", "--month", "2026-11", "--cycle", "4"], 2, "exclude each other"),
        (["missing/x.html", "--audit-log", "log", "--month", "2026-11"], 1, "missing/x.html: cannot write"),
    ],
)
@pytest.mark.usefixtures("log")
def test_what_cannot_be_written_is_said(words, code, message):
    done = ask(*words)
    assert (done.exit_code, message in done.output) == (code, True), done.output


@pytest.mark.parametrize(
    ("most", "top", "labels"),
    [
        (0, 1, ["0", "0.25", "0.5", "0.75", "1"]),
        (7, 8, ["0", "2", "4", "6", "8"]),
        (199, 200, ["0", "50", "100", "150", "200"]),
        (0.3, 0.3, ["0", "0.1", "0.2", "0.3"]),
    ],
)
def test_scales_have_a_few_round_numbers(most, top, labels):
    scale = number_scale(most)
    assert (scale.top, [tick.text for tick in scale.ticks]) == (pytest.approx(top), labels)


def test_labels_are_spread_within_the_chart():
    assert spread([50, 52, 51], 10) == (50, 70, 60)
    assert spread([99, 100], 10) == (90, 100)


def test_times_have_at_most_six_labels():
    days = [BEGUN + n * DAY for n in range(30)]
    assert [tick.text for tick in time_ticks(days, int(DAY))] == [
        "1 Nov",
        "6 Nov",
        "11 Nov",
        "16 Nov",
        "21 Nov",
        "26 Nov",
    ]
    assert [tick.text for tick in time_ticks([BEGUN, BEGUN + 300], 300)] == ["00:00", "00:05"]
    assert [width_text(each) for each in (60, 300, 3600, 21600, 86400)] == [
        "minute",
        "5 minutes",
        "hour",
        "6 hours",
        "day",
    ]


def test_bars_are_as_high_as_their_jobs_and_do_not_overlap():
    """However many small ones there are beside a large one."""
    blocked = [
        BlockedJobs("large", "", "ada", 1000.0),
        *(BlockedJobs(f"small{n}", "", f"u{n}", 1.0 + n) for n in range(8)),
    ]
    found = bands(blocked)
    assert [each.name for each in found.reasons[:2]] == ["large", "small7"]
    for ends in (found.reasons, found.users):
        places = [(each.top, each.top + each.height) for each in ends]
        assert all(end <= begin for (_, end), (begin, _) in pairwise(places))
        assert places[-1][1] <= 100.1
        assert ends[0].height / ends[1].height == pytest.approx(1000 / 8, rel=0.02)
    labels = [each.top * found.height / 100 for each in found.reasons]
    assert min(b - a for a, b in pairwise(labels)) > 3.5
