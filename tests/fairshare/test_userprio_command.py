"""``negotiator userprio``: accounts of a state are shown by the command line."""

import os
import re
import subprocess
import sys

from pools import slot
from queueing import NOW, app
from real_condor import real_condor
from userprio_site import BUNDLE, LOG, TARGETS, long_form, userprio, world_in


def in_utc(site, *words):
    """Run the program in UTC; return what it printed."""
    words = [sys.executable, "-m", "negotiator", "userprio", *words, *TARGETS]
    environment = os.environ | {"TZ": "UTC"}
    return subprocess.run(words, cwd=site, capture_output=True, text=True, check=True, env=environment).stdout


def test_the_table_has_the_columns_of_condor_userprio(site):
    done = userprio(site, "-allusers")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Last Priority Update: ")
    assert lines[1].split() == [
        "Effective",
        "Priority",
        "Wghted",
        "Total",
        "Usage",
        "Time",
        "Since",
        "Submitter",
        "Submitter",
    ]
    assert [line.split()[0] for line in lines[4:-2]] == ["tester@d"]
    assert lines[-1].startswith("Number of users: 1")


def test_submitters_that_were_not_active_for_a_day_are_shown_on_request(site):
    userprio(site, "-setlast", "tester@d", NOW)
    late = ("--now", NOW + 200_000)
    assert "tester@d" in userprio(site, "--now", NOW + 60).stdout
    assert "tester@d" not in userprio(site, *late).stdout
    assert "tester@d" in userprio(site, *late, "-allusers").stdout
    assert "tester@d" in userprio(site, *late, "tester").stdout


def test_without_a_state_nothing_is_made(site):
    done = userprio(site, "-all", more=("--bundle", "bundle", "--state", "elsewhere"))
    assert (done.returncode, done.stderr) == (
        6,
        "error: elsewhere: no state of a negotiator in this folder\n",
    )
    assert not (site / "elsewhere").exists()


def test_the_help_of_condor_userprio_is_that_of_the_command(site):
    assert userprio(site, "-help").stdout == userprio(site, "--help").stdout != ""


GROUPS = """GROUP_NAMES: physics, physics.astro
GROUP_QUOTA_physics: 2
GROUP_QUOTA_DYNAMIC_physics.astro: 0.5
GROUP_ACCEPT_SURPLUS_physics: true
"""


def _cycle_of_groups(folder):
    """Run two cycles of two submitters in groups, the second with their first slots in use."""
    world = world_in(folder, BUNDLE + GROUPS)
    names = enumerate(["physics.ann", "physics.astro.tim", "sue"], 1)
    world.jobs = [
        app(number, each, user=name, AccountingGroup=f'"{name}"', User=f'"{name}@d"')
        for number, name in names
        for each in range(9)
    ]
    world.slots = [slot(number, Cpus="1") for number in range(4)]
    with world:
        first = world.cycle()
        users = {match.slot: match.submitter for match in first.matches}
        world.slots = [
            slot(number, Cpus="1", State='"Claimed"', RemoteUser=f'"{user}"', AccountingGroup=f'"{user}"')
            for number, user in enumerate(users.values())
        ]
        world.now += 3600
        world.cycle()
    return folder


def test_groups_are_shown_with_their_quotas_and_demand(tmp_path):
    site = _cycle_of_groups(tmp_path)
    shown = long_form(site)
    physics = shown["physics"]
    assert (physics["ConfigQuota"], physics["EffectiveQuota"], physics["SurplusPolicy"]) == (
        "2.0",
        "2.0",
        '"byquota"',
    )
    assert shown["physics.astro"]["SubtreeQuota"] == "1.0"
    assert float(physics["Requested"]) >= 9
    assert shown["<none>"]["EffectiveQuota"] == "2.0"
    assert {name for name in shown if shown[name]["IsAccountingGroup"] == "true"} == {
        "<none>",
        "physics",
        "physics.astro",
    }
    quotas = userprio(site, "-quotas", "-allusers").stdout
    assert re.search(r"^physics +2\.00 +2\.00 ByQuota +2\.00 ", quotas, re.MULTILINE)


def test_the_long_form_has_shares_and_limits_of_the_last_cycle(site):
    shown = long_form(site)["tester@d"]
    assert (shown["SubmitterShare"], shown["SubmitterLimit"]) == ("1.0", "3.0")


def test_the_limit_of_a_submitter_includes_the_slots_that_it_uses(tmp_path):
    """As condor_negotiator publishes it: the share of the pie, of a group here, before use is taken off."""
    shown = long_form(_cycle_of_groups(tmp_path))["sue@d"]
    assert (shown["ResourcesUsed"], shown["SubmitterShare"], shown["SubmitterLimit"]) == ("1", "1.0", "2.0")


def _assert_tables_of_condor_userprio(site):
    """The tables that condor_userprio makes of the long form are those of the command."""
    with real_condor() as condor:
        (condor.folder / "ads").write_text(userprio(site, "-long", "-allusers").stdout)
        for option in ("-most", "-all", "-usage", "-priority", "-quotas"):
            ours = in_utc(site, option, "-allusers")
            real = condor.output(
                "condor_userprio", "-inputfile", str(condor.inside / "ads"), option, "-allusers"
            )
            assert ours == real, option


def test_condor_userprio_shows_the_long_form_of_groups(tmp_path):
    _assert_tables_of_condor_userprio(_cycle_of_groups(tmp_path))


def test_condor_userprio_shows_the_long_form_as_the_command_shows_its_tables(site):
    userprio(site, "--import", LOG)
    _assert_tables_of_condor_userprio(site)
