"""Each match is one line of the file, and the installed plugin is loaded by its entry point."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from negotiator.testing import PluginFailedError, call, cycle_record, match

PROJECT = Path(__file__).parents[1]
PLUGIN = PROJECT / "negotiator_csv_matches"
TITLES = ["cycle", "time", "match", "submitter", "schedd", "job", "slot", "rank", "warnings"]


@pytest.fixture
def settings(tmp_path):
    (section,) = call(PLUGIN, "negotiator_section")
    return section.schema(csv_matches=str(tmp_path / "matches.csv"))


def deliver(settings, *matches, number=1):
    now = 1_763_666_400.0
    call(
        PLUGIN,
        "negotiator_matches_made",
        matches=matches,
        settings=settings,
        cycle=cycle_record(number=number, now=now),
    )


def rows(settings):
    file = Path(settings.csv_matches)
    with file.open(encoding="utf-8", errors="surrogateescape", newline="") as opened:
        return list(csv.reader(opened))


def test_each_match_is_a_line(settings):
    """Lines of later cycles follow those of earlier ones; the titles are written once."""
    deliver(settings, match(ordinal=1), match('Owner = "bob"', 'Name = "slot2@b"', ordinal=2), number=7)
    deliver(settings, match(ordinal=3), number=8)
    assert rows(settings) == [
        TITLES,
        [
            "7",
            "2025-11-20T19:20:00+00:00",
            "1.1",
            "alice@example.org",
            "schedd@example.org",
            "1.0",
            "slot1@a",
            "0.0",
            "",
        ],
        [
            "7",
            "2025-11-20T19:20:00+00:00",
            "1.2",
            "bob@example.org",
            "schedd@example.org",
            "2.0",
            "slot2@b",
            "0.0",
            "",
        ],
        [
            "8",
            "2025-11-20T19:20:00+00:00",
            "1.3",
            "alice@example.org",
            "schedd@example.org",
            "3.0",
            "slot1@a",
            "0.0",
            "",
        ],
    ]


def test_names_with_special_characters_stay_in_one_cell(settings):
    """Commas, quotes, line breaks, and bytes that are not UTF-8."""
    name = 'slot,1"\n\udcff'
    deliver(settings, match(slot='[ Name = "slot,1\\"\\n\\377" ]'))
    assert rows(settings)[1][6] == name
    assert len(rows(settings)) == 2


def test_without_a_file_nothing_is_written(settings, tmp_path):
    """Neither without the key in the bundle nor in a cycle without matches."""
    deliver(type(settings)(), match())
    deliver(settings)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_a_failure(tmp_path, settings):
    """The failure has the plugin's name; the matches are delivered."""
    with pytest.raises(PluginFailedError, match="negotiator_matches_made: IsADirectoryError"):
        deliver(type(settings)(csv_matches=str(tmp_path)), match())


SCRIPT = """
import sys
from negotiator.testing import cycle
result = cycle('Name = "slot1@a"', "RequestCpus = 1", {"pool.yaml": f"csv_matches: {sys.argv[1]}"})
print(len(result.pairs), result.failures)
"""


def test_the_installed_plugin_writes_matches(tmp_path):
    """It is built as a wheel, and found by its entry point in another process."""
    site, source = tmp_path / "site", tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "negotiator_csv_matches/__init__.py"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text((PROJECT / name).read_text(encoding="utf-8"), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", "--no-deps", "--target", site, source], check=True)
    target = tmp_path / "matches.csv"
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def run(*words):
        command = [sys.executable, *words]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    plugins = json.loads(run("-m", "negotiator", "plugins", "--json"))["plugins"]
    (own,) = (each for each in plugins if each["name"] == "csv-matches")
    assert own["version"] == "1.0"
    assert own["origin"] == "entry point csv-matches = negotiator_csv_matches (negotiator-csv-matches 1.0)"
    assert run("-c", SCRIPT, target) == "1 ()\n"
    assert target.read_text().startswith(",".join(TITLES))
