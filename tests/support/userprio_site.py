"""``negotiator userprio`` in a folder with a bundle, a state after a cycle and an audit log."""

import contextlib
import json
from pathlib import Path
from types import SimpleNamespace

from commands import invoke
from fair_share import FAIR
from negotiator.app.context import ProgramContext
from negotiator_fairshare.commands.userprio import userprio as command
from pools import slot
from queueing import QUEUES, World, app, bundle, records

#: A log of condor_negotiator with six accounts.
LOG = Path(__file__).parents[1] / "fairshare" / "data" / "Accountantnew.log"
BUNDLE = f"scheduleracl: boss\n{FAIR}"
TARGETS = ("--bundle", "bundle", "--state", "state", "--audit-log", "audit")


def world_in(folder, pool_yaml=BUNDLE):
    """Return the world of a folder: three slots, and two jobs of tester."""
    world = World(folder, bundle(folder / "bundle", QUEUES, pool_yaml))
    world.slots = [slot(number, Cpus="1") for number in range(3)]
    world.jobs = [app(1), app(1, 1)]
    return world


def userprio(site, *words, more=TARGETS, **options):
    """Run the command in the folder of a site."""
    with contextlib.chdir(site):
        done = invoke(command, [*words, *more], ProgramContext(), **options)
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)


def long_form(site):
    """Return the attributes of the long form by the names of the entries."""
    done = userprio(site, "-long", "-modular", "-allusers")
    assert (done.returncode, done.stderr) == (0, "")
    ads = [dict(line.split(" = ", 1) for line in ad.splitlines()) for ad in done.stdout.split("\n\n") if ad]
    return {json.loads(ad["Name"]): ad for ad in ads}


def admin_records(site):
    """Return the changes of the audit log: action, user, whether it was made, and the text."""
    return [
        (each["action"], each["user"], each["ok"], each["text"]) for each in records(site / "audit", "admin")
    ]
