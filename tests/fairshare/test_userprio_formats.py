"""``-autoformat``, ``-constraint``, ``-grouporder`` and ``-grouprollup``: what they print is what condor_userprio prints."""

from itertools import permutations
from pathlib import Path

import pytest

from negotiator_fairshare.accounts import AccountRecord, Accounts
from negotiator_fairshare.groups.records import GroupFigures
from negotiator_fairshare.userprio.arguments import read_arguments
from negotiator_fairshare.userprio.report import report_of
from negotiator_fairshare.userprio.table import table_lines
from real_condor import real_condor
from userprio_report import recorded, settings_with
from userprio_site import userprio

DATA = Path(__file__).parent / "data"
NOW = 1_800_000_000
# Recorded from condor_userprio 25.14.1, of data/userprio_long.txt: the first line, and that of Alice.
AUTOFORMAT = [
    ("-af Name Priority", "<none> 500.0599999999999", "alice@example.org 125.015"),
    ("-af:V Name Ceiling", '"<none>" undefined', '"alice@example.org" 10'),
    ("-af:, Name Priority", "<none>, 500.0599999999999", "alice@example.org, 125.015"),
    ("-af:t Name Priority", "<none>\t500.0599999999999", "alice@example.org\t125.015"),
    ("-af:l Name Ceiling", "Name = <none> Ceiling = undefined", "Name = alice@example.org Ceiling = 10"),
    ("-af:h Name Ceiling", "Name Ceiling", "alice@example.org 10       "),
    ("-af:h Priority Name", "Priority Name", "125.015               alice@example.org"),
    ("-af:jh Name", " ID Name", " alice@example.org"),
    ("-af:r name Nope 1+1", '"<none>" undefined 1 + 1', '"alice@example.org" undefined 1 + 1'),
    (
        "-autofor Priority/3 Name=?=1 {1,Nope}",
        "166.6866666666666 false { 1,Nope }",
        "41.67166666666667 false { 1,Nope }",
    ),
    ("-af:T LastUsageTime Name 1.9", "20779+14:39:28    0+00:00:01", "20779+14:39:28    0+00:00:01"),
    ("-af:Y LastUsageTime Priority", "11/22 14:39  1/1  00:08", "11/22 14:39  1/1  00:02"),
    ("-af:lY Nope true", "  1/1  00:00", "  1/1  00:00"),
    ("-af Name -af:V Name", '<none> "<none>"', 'alice@example.org "alice@example.org"'),
]


def printed(line, report):
    """Return what the options print of a report."""
    arguments = read_arguments(line.split(" "), NOW)
    selected = arguments.selected(report)
    if arguments.autoformat is not None:
        return arguments.autoformat.text(selected.ads())
    return "\n".join(table_lines(selected, arguments.view)) + "\n"


@pytest.mark.parametrize(("line", "first", "alice"), AUTOFORMAT)
def test_lines_of_attributes_are_those_of_condor_userprio(line, first, alice):
    lines = printed(line, recorded()).splitlines()
    assert lines[0] == first
    assert lines[3 + ("h" in line.partition(" ")[0].partition(":")[2])] == alice


@pytest.mark.parametrize(
    ("letters", "text"),
    [
        ("n", "<none>\n 0.0\n"),
        ("g", "\n<none>0.0\n"),
        ("ln", "Name = <none>\n PriorityFactor = 0.0\n"),
        ("hg", "\nNamePriorityFactor\n\n<none>0.0           \n"),
    ],
)
def test_lines_may_be_divided_in_other_ways(letters, text):
    assert printed(f"-af:{letters} Name PriorityFactor", recorded()).startswith(text)


@pytest.mark.parametrize(
    ("expression", "duration", "date"),
    [
        ("0-90061", " -1+-1:-1:-1", "    ???    "),
        ("1e300", "-106751991167300+-15:-30:-8", "    ???    "),
        ('real("nan")', "-106751991167300+-15:-30:-8", "    ???    "),
        ("86399", "  0+23:59:59", " 1/1  23:59"),
        ('"x"', "", ""),
        ("error", "", ""),
    ],
)
def test_numbers_are_shown_as_durations_and_dates(expression, duration, date):
    """As condor_userprio prints them; other values have no text."""
    assert printed(f"-af:T {expression}", recorded()).splitlines()[0] == duration
    assert printed(f"-af:Y {expression}", recorded()).splitlines()[0] == date


def test_texts_of_users_cannot_forge_lines():
    accounts = Accounts(records={"evil\n@d": AccountRecord()})
    assert printed("-af Name", report_of(accounts, settings_with())).count("\n") == 2


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("-constraint Priority>500.05", ["<none>"]),
        ("-constraint IsAccountingGroup -constraint Priority>500.01", ["<none>", "group_a"]),
        ("-constraint Ceiling", ["alice@example.org", "bob@example.org", "group_a.bob@example.org"]),
        ("-constraint Nope", []),
        ("alice bob -constraint Ceiling>0", ["alice@example.org"]),
    ],
)
def test_entries_are_shown_for_whose_ads_all_constraints_are_true(line, names):
    assert printed(f"{line} -af Name", recorded()).splitlines() == names


def test_a_constraint_selects_the_entries_of_a_table_too():
    table = printed("-allusers -usage -constraint Ceiling==10", recorded())
    assert "alice@example.org" in table
    assert "bob@example.org" not in table


def test_groups_are_above_all_submitters_with_grouporder():
    lines = printed("-grouporder -usage -allusers", recorded()).splitlines()
    names = [line.split(" ")[0] for line in lines[4:-2]]
    assert names == [
        *("<none>", "group_a", "group_a.x"),
        *("bob@example.org", "group_a.bob@example.org", "alice@example.org"),
    ]


def test_groups_have_the_sums_of_the_groups_below_with_grouprollup():
    """Their priority is 0, the first use is the earliest and the last use the latest."""
    records = {
        "<none>": AccountRecord(begin_usage=9, last_usage=9, resources_used=1),
        "a": AccountRecord(begin_usage=5, last_usage=7, weighted_accumulated_usage=3.0),
        "a.b": AccountRecord(begin_usage=6, last_usage=12, weighted_accumulated_usage=0.5, resources_used=4),
        "a.b.u@d": AccountRecord(resources_used=4),
    }
    report = report_of(Accounts(records=records), settings_with("a", "a.b"), {"a": GroupFigures(requested=1)})
    lines = printed(
        "-grouprollup -af Name Priority ResourcesUsed WeightedAccumulatedUsage BeginUsageTime LastUsageTime",
        report,
    )
    assert lines.splitlines() == [
        "<none> 0.0 5 3.5 5 12",
        "a 0.0 4 3.5 5 12",
        "a.b 0.0 4 0.5 6 12",
        "a.b.u@d 500.0 4 0.0 0 0",
    ]


def test_the_command_prints_lines_of_attributes(site):
    done = userprio(site, "-af:,", "Name", "Ceiling", "-constraint", "!IsAccountingGroup")
    assert (done.returncode, done.stdout) == (0, "tester@d, -1\n")


def test_condor_userprio_prints_the_same():
    """Each letter alone, a third of all pairs, constraints, and the order of groups."""
    report = recorded()
    letters = ["", *"jlhVr,tngTY", *map("".join, [*permutations("jlhVr,tngTY", 2)][::3])]
    lines = [f"-af:{each} Name Priority Nope Ceiling+1 LastUsageTime 0-90061 true" for each in letters]
    lines += ["-constraint Priority>500.01 -af Name", "-constraint Ceiling -constraint true -af:h Name"]
    lines += [
        f"-grouporder -{each} -allusers" for each in ("most", "all", "usage", "quotas", "priority", "groupid")
    ]
    lines += [line for line, _first, _alice in AUTOFORMAT]
    with real_condor() as condor:
        (condor.folder / "ads").write_text((DATA / "userprio_long.txt").read_text())
        for line in lines:
            words = ["-inputfile", str(condor.inside / "ads"), *line.split(" ")]
            assert printed(line, report) == condor.output("condor_userprio", *words), line
