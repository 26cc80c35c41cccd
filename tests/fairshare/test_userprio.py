"""What condor_userprio shows: our tables and long forms are those of HTCondor's own program, byte for byte."""

import random
from pathlib import Path

import pytest

from negotiator_fairshare.accounts import AccountRecord, Accounts, AccountSettings
from negotiator_fairshare.groups.records import GroupFigures
from negotiator_fairshare.userprio.columns import ColumnSet
from negotiator_fairshare.userprio.report import report_of
from negotiator_fairshare.userprio.table import UserprioView, table_lines
from real_condor import real_condor
from userprio_report import recorded, settings_with

DATA = Path(__file__).parent / "data"
NOW = 1_800_000_000
YESTERDAY = 1_799_884_800  # midnight, as -activefrom has it
OPTIONS = {
    "most": ColumnSet.MOST,
    "all": ColumnSet.ALL,
    "priority": ColumnSet.PRIORITIES,
    "usage": ColumnSet.USAGE,
    "quotas": ColumnSet.QUOTAS,
}
#: Columns whose cells depend on the other columns.
GROUPS = {
    "groupid": ColumnSet.GROUP_ID,
    "groupid -order": ColumnSet.GROUP_ID | ColumnSet.GROUP_ORDER,
    "groupid -order -most": ColumnSet.GROUP_ID | ColumnSet.GROUP_ORDER | ColumnSet.MOST,
    "order -usage": ColumnSet.GROUP_ORDER | ColumnSet.USAGE,
    "order -priority": ColumnSet.GROUP_ORDER | ColumnSet.PRIORITIES,
}


def test_the_long_form_is_that_of_condor_userprio():
    """Recorded from condor_negotiator 25.14.1, over the log of accounts that it wrote at the same time."""
    assert recorded().long_form() == (DATA / "userprio_long.txt").read_text()


@pytest.mark.parametrize("option", OPTIONS)
def test_the_table_is_that_of_condor_userprio(option):
    lines = table_lines(recorded(), UserprioView(columns=OPTIONS[option]))
    assert "\n".join(lines) + "\n" == (DATA / f"userprio_{option}.txt").read_text()


def test_the_key_of_the_group_that_is_last_is_a_word():
    columns = ColumnSet.SORT_KEY | ColumnSet.SURPLUS
    figures = {"<none>": GroupFigures(sort_key=3.40282e38), "a": GroupFigures(sort_key=3.41e38)}
    accounts = Accounts(records={"a.u@d": AccountRecord()})
    lines = table_lines(report_of(accounts, settings_with("a"), figures), UserprioView(columns=columns))
    assert [line.split()[1] for line in lines if line.startswith(("a ", "<none>"))] == ["3.4e+38", "<last>"]


def test_groups_are_numbered_by_their_names():
    """The values that they are sorted by are their keys; without other columns, their numbers."""
    lines = table_lines(recorded(), UserprioView(columns=GROUPS["groupid -order"]))
    assert [line.split() for line in lines[4:-2]] == [
        ["<none>", "3.4e+38"],
        ["alice@example.org", "3.4e+38"],
        ["bob@example.org", "3.4e+38"],
        ["group_a", "1", "1.00"],
        ["bob@example.org", "1", "1.00"],
        ["group_a.x", "2", "2.00"],
    ]
    lines = table_lines(recorded(), UserprioView(columns=GROUPS["groupid -order -most"]))
    assert [line.split()[2] for line in lines if line.startswith("group_a")] == ["0.00", "0.44"]


def test_groups_without_submitters_have_the_numbers_of_their_places():
    accounts = Accounts(records={"u@d": AccountRecord()})
    report = report_of(accounts, settings_with("b", "a"))
    lines = table_lines(report, UserprioView(columns=GROUPS["groupid -order"]))
    assert [line.split() for line in lines[4:-2]] == [["a", "-2"], ["b", "-3"], ["u@d"]]


def test_the_modular_long_form_has_one_ad_for_each_entry():
    ads = recorded().modular_long_form().split("\n\n")
    assert len(ads) == 7
    assert 'Name = "alice@example.org"\n' in ads[3]
    assert "Ceiling = 10\n" in ads[3]
    assert "LastUpdate = 1795358368\n" in ads[3]


def test_the_ad_of_an_account_without_use_has_no_times_and_no_sums():
    """As that of condor_negotiator: condor_userprio would show the epoch as the last use."""
    accounts = Accounts(
        records={"u@d": AccountRecord(), "v@d": AccountRecord(last_usage=5, accumulated_usage=2.0)}
    )
    _, new, used = report_of(accounts, AccountSettings()).own_ads()
    assert {"AccumulatedUsage", "WeightedAccumulatedUsage", "BeginUsageTime", "LastUsageTime"}.isdisjoint(new)
    assert (used["LastUsageTime"], used["AccumulatedUsage"]) == (5, 2.0)


def test_the_ad_of_a_group_has_the_factor_of_its_priority():
    stored = Accounts(records={"a": AccountRecord(factor=7.0)})
    report = report_of(stored, settings_with("a"))
    found = {
        ad["Name"]: (ad["AccountingGroup"], ad["PriorityFactor"], ad["Ceiling"]) for ad in report.own_ads()
    }
    assert found == {"<none>": ("<none>", 1000.0, -1), "a": ("a", 7.0, -1)}


def test_names_cannot_forge_lines():
    accounts = Accounts(records={'evil"\\ @d': AccountRecord()})
    report = report_of(accounts, AccountSettings())
    assert 'Name2 = "evil\\"\\ @d"\n' in report.long_form()
    accounts = Accounts(records={"evil\n@d": AccountRecord()})
    lines = table_lines(report_of(accounts, AccountSettings()), UserprioView())
    assert not any("\n" in line for line in lines)


def _random_report(source):
    groups = source.sample(["a", "a.b", "c", "c.d", "c.d.e"], source.randrange(6))
    settings = settings_with(*groups)
    users = ["u@d", "long.name.of.a.user@some.where.example.org", *(f"{name}.u@d" for name in (*groups, "z"))]

    def record():
        return AccountRecord(
            priority=source.uniform(0.5, source.choice([9.0, 9e9])),
            factor=source.choice([1.0, 1000.0, 1e10, 33.3]),
            weighted_accumulated_usage=source.uniform(0, source.choice([1e4, 1e13])),
            weighted_resources_used=source.choice([0.0, source.uniform(0, 2e6)]),
            begin_usage=source.choice([0, NOW - 10**6]),
            last_usage=source.choice([0, NOW, NOW - source.randrange(10**6)]),
            ceiling=source.choice([-1, 0, 7]),
            floor=source.choice([0, 3]),
        )

    names = [*settings.groups, *users]
    figures = {
        name: GroupFigures(
            effective_quota=source.uniform(0, 10),
            config_quota=source.uniform(0, 1e8),
            sort_key=source.choice([source.random(), 3.3e38, 3.40282e38]),
            surplus=source.choice(["no", "byquota", "regroup"]),
            requested=source.uniform(0, 1e7),
        )
        for name in settings.groups
    }
    return report_of(Accounts(records={name: record() for name in names}, last_update=NOW), settings, figures)


def test_condor_userprio_shows_our_long_form_as_we_do():
    """Random pools, with all columns and views; none of them has users of equal priority or usage, whose order is no rule."""
    source = random.Random(13)  # noqa: S311
    with real_condor() as condor:
        for _pool in range(4):
            report = _random_report(source)
            (condor.folder / "userprio").write_text(report.long_form())
            for option, columns in {**OPTIONS, **GROUPS}.items():
                for since, hierarchical in ((-1, None), (-1, True), (YESTERDAY, None), (-1, False)):
                    arguments = [
                        *f"-{option}".split(),
                        *{None: [], True: ["-hier"], False: ["-flat"]}[hierarchical],
                    ]
                    arguments += ["-allusers"] if since < 0 else ["-activefrom", "1", "14", "2027"]
                    view = UserprioView(columns=columns, active_since=since, hierarchical=hierarchical)
                    shown = condor.output(
                        "condor_userprio", "-inputfile", str(condor.inside / "userprio"), *arguments
                    )
                    assert "\n".join(table_lines(report, view)) + "\n" == shown, (arguments, report)
