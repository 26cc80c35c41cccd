"""``negotiator userprio -getreslist``: the slots that a submitter uses."""

import pytest

from negotiator_fairshare.userprio.columns import date
from pools import NOW, slot, write_ads
from userprio_site import userprio

#: The time of the site's cycle in the local zone, and what passed since.
MATCHED = f"{' '.join(date(int(NOW), None).split())} 1+01:01:01"

#: As condor_userprio 25.14.1 formats them (printf, ``%-30s %12s %12s``).
HEADING = """\
Resource Name                    Start Time   Match Time
-------------                    ----------   ----------
"""
END = """\
-------------                   ------------  ------------
Number of Resources Used: """


def claimed(number, user="tester@d", **more):
    own = {"MyType": '"Machine"', "State": '"Claimed"', "RemoteUser": f'"{user}"', "Cpus": "1"}
    return slot(number, **(own | more))


def listed(site, *slots, user="tester@d"):
    """Return the lines of the slots, as name, start and match time; and the number below them."""
    arguments = ["-getreslist", user, "--now", NOW + 90_061]
    if slots:
        write_ads(site / "pool.ads", *slots)
        arguments += ["--pool", "pool.ads"]
    done = userprio(site, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(HEADING)
    body, end, number = done.stdout.removeprefix(HEADING).partition(END)
    assert end
    return [" ".join(line.split()) for line in body.splitlines()], int(number)


def test_the_slots_that_the_last_cycle_counted_are_listed(site):
    """With the time of the cycle, and since when."""
    assert listed(site) == ([f"s0@h {MATCHED}", f"s1@h {MATCHED}"], 2)


def test_the_slots_that_a_pool_shows_are_listed(site):
    """Claimed slots of the submitter; when one was matched by another negotiator is not known."""
    slots = [claimed(0), claimed(1, "sue@d"), claimed(7), claimed(8, State='"Unclaimed"'), slot(2)]
    assert listed(site, *slots) == ([f"s0@h {MATCHED}", f"s1@h {MATCHED}", "s7@h ??? ???"], 3)


def test_an_accounting_group_is_the_user_of_a_slot(site):
    slots = [claimed(7, AccountingGroup='"a.tester@d"'), claimed(8, "bob@d", AccountingGroup='"tester@d"')]
    assert listed(site, *slots, user="a.tester@d") == (["s7@h ??? ???"], 1)
    assert listed(site, *slots)[0][-1] == "s8@h ??? ???"


def test_a_dynamic_slot_was_matched_when_its_job_was(site):
    name = '"s9_1@h"'
    lines, _number = listed(
        site, claimed(9, Name=name, JobId='"1.1"'), claimed(8, Name='"s8_1@h"', JobId='"9.0"')
    )
    assert f"s9_1@h {MATCHED}" in lines
    assert "s8_1@h ??? ???" in lines


def test_suspended_slots_are_not_in_use_if_the_bundle_discounts_them(site):
    slots = [claimed(7, Activity='"Suspended"')]
    assert listed(site, *slots, user="tester@d")[1] == 3
    pool = site / "bundle" / "pool.yaml"
    pool.write_text(pool.read_text() + "NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES: true\n")
    assert listed(site, *slots, user="tester@d")[1] == 2


def test_names_cannot_forge_lines(site):
    lines, number = listed(site, claimed(7, "eve@d", Name='"s7@h\\n-------------"'), user="eve@d")
    assert (len(lines), number) == (1, 1)


def test_a_submitter_without_slots_has_none(site):
    assert listed(site, user="nobody@d") == ([], 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tester"], "-getreslist needs the full name of a submitter"),
        (["tester@d", "-all"], "-getreslist shows the slots of one submitter: remove -all"),
        (["tester@d", "sue@d"], "remove sue@d"),
    ],
)
def test_what_cannot_be_listed_is_refused(site, words, message):
    done = userprio(site, "-getreslist", *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_without_a_state_there_is_nothing_to_list(site):
    done = userprio(site, "-getreslist", "tester@d", more=("--state", "nowhere"))
    assert done.returncode == 6
