"""Maintenance windows remove slots by the cycle's time, and problems of the calendar have their lines."""

from datetime import datetime
from pathlib import Path

import attrs
import pytest

from negotiator.plugin import Verdict
from negotiator.testing import call, cycle, cycle_record, table

PLUGIN = Path(__file__).with_name("maintenance.py")
SLOTS = 'Name = "slot1@gpu1"\nMachine = "GPU1.example.org"\n\nName = "slot1@cpu1"\nMachine = "cpu1.example.org"\n\nName = "?"'
CALENDAR = """
- machine: "gpu*.example.org"
  from: 2026-11-23T08:00
  to: 2026-11-23T12:00+01:00
  why: new power supplies
"""


@pytest.fixture
def settings(tmp_path):
    """Return the plugin's section of a bundle with this calendar."""
    (section,) = call(PLUGIN, "negotiator_section")

    def make(text):
        file = tmp_path / "calendar.yaml"
        file.write_text(text)
        return section.schema(maintenance_calendar=file)

    make.section = section
    return make


def allowed(settings, text, time):
    now = datetime.fromisoformat(time).timestamp()
    given = {"slots": table(SLOTS), "settings": settings(text), "cycle": cycle_record(now=now)}
    return [answer.allow.tolist() for answer in call(PLUGIN, "negotiator_filter_slots", **given)]


@pytest.mark.parametrize(
    ("time", "is_open"),
    [
        ("2026-11-23T07:59:59+00:00", False),
        ("2026-11-23T08:00:00+00:00", True),
        ("2026-11-23T10:59:59+00:00", True),
        ("2026-11-23T11:00:00+00:00", False),
    ],
)
def test_a_window_includes_its_beginning_and_excludes_its_end(settings, time, is_open):
    """Times without a zone are UTC; names of machines ignore case; a slot without a Machine is not affected."""
    assert allowed(settings, CALENDAR, time) == ([[False, True, True]] if is_open else [])


def test_the_filter_names_the_window(settings):
    """It has the rule, the reason and the line of the calendar; its verdict is WAITING, since the machine comes back."""
    now = datetime.fromisoformat("2026-11-23T09:00+00:00").timestamp()
    given = {"slots": table(SLOTS), "settings": settings(CALENDAR), "cycle": cycle_record(now=now)}
    (answer,) = call(PLUGIN, "negotiator_filter_slots", **given)
    assert answer.rule == "maintenance of gpu*.example.org"
    assert answer.text == "the machine is under maintenance: new power supplies"
    assert answer.verdict is Verdict.WAITING
    assert (answer.source.file, answer.source.line) == ("calendar.yaml", 2)


def test_without_a_calendar_no_slot_is_removed(settings):
    """Bundles without the plugin's key are not affected."""
    nothing = settings.section.schema()
    assert nothing.maintenance_calendar is None
    assert call(PLUGIN, "negotiator_filter_slots", slots=table(SLOTS), settings=nothing) == ()
    assert list(settings.section.check(nothing)) == []
    assert allowed(settings, "", "2026-11-23T09:00+00:00") == []


def test_no_attribute_of_a_job_is_read():
    """So that alike jobs stay one request."""
    assert call(PLUGIN, "negotiator_job_attributes") == ()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("machine: a", 0, "expected a list of windows"),
        ("- a\n", 1, "expected a window"),
        ("- machine: [a]\n", 1, "expected a window"),
        (
            "\n- machine: a\n  from: 2026-01-01\n  to: 2026-01-02\n",
            2,
            "expected the keys from, machine, to, why",
        ),
        ("- {machine: a, machine: b, from: 2026-01-01, to: 2026-01-02, why: x}", 1, "each once"),
        ("- {machine: a, from: soon, to: 2026-01-02, why: x}", 1, "'soon' is not a time in ISO 8601"),
        ("- {machine: a, from: 2026-01-02, to: 2026-01-02, why: x}", 1, "it ends before it begins"),
        ("- {}\n- {", 2, "not YAML: expected the node content"),
        ("- \x07", 0, "not YAML in UTF-8"),
    ],
)
def test_an_invalid_entry_is_reported_with_its_line(settings, text, line, message):
    """When the bundle is loaded, not in a cycle."""
    (problem,) = settings.section.check(settings(text))
    assert message in problem.message
    assert problem.source.line == line


def test_a_missing_calendar_is_reported(settings, tmp_path):
    """The problem names the file."""
    gone = attrs.evolve(settings(""), maintenance_calendar=tmp_path / "gone.yaml")
    (problem,) = settings.section.check(gone)
    assert problem.message == "No such file or directory"
    assert problem.source.file == "gone.yaml"


def test_the_plugin_works_in_the_plugins_folder_of_a_bundle():
    """As administrators install it: the denial has its name, its version and the hash of its code."""
    bundle = {
        "pool.yaml": "plugins:\n  folders: [plugins]\nmaintenance_calendar: calendar.yaml\n",
        "calendar.yaml": CALENDAR,
        "plugins/maintenance.py": PLUGIN.read_text(),
    }
    now = datetime.fromisoformat("2026-11-23T09:00+00:00").timestamp()
    result = cycle(SLOTS.partition("\n\n")[0], "RequestCpus = 1", bundle, now=now)
    (reason,) = (each.reason for denial in result.denials for each in denial.reasons)
    assert reason.provenance.plugin == "maintenance"
    assert reason.provenance.version.startswith("1.0+sha256:")
    assert result.failures == ()
