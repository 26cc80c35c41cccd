"""Cycles under fair share, and the settings that a bundle with some knobs has."""

import tempfile
from collections import Counter
from pathlib import Path

from negotiator.bundle import check_bundle, load_bundle
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from pools import NOW, ad, job, snapshot

FAIR = "order: submitters\naccounting: {trust_names: true}\n"


def submitter(name, idle=9, **attributes):
    """Return the ad of a submitter ``NAME@d`` at one schedd."""
    own = {"IdleJobs": str(idle), "RunningJobs": "0", "LastHeardFrom": "1", "ScheddName": '"h"'}
    return ad(Name=f'"{name}@d"', **(own | attributes))


def jobs_of(name, count, cluster, **changed):
    """Return idle jobs of one cluster of a submitter."""
    own = {"Owner": f'"{name}"', "User": f'"{name}@d"', "ClusterId": str(cluster)}
    return [
        job(number, GlobalJobId=f'"h#{cluster}.{number}#1"', **(own | changed)) for number in range(count)
    ]


def grouped_pool(counts, slots, **changed):
    """Return a pool with idle jobs of submitters ``GROUP.NAME@d``: so many of each."""
    jobs, submitters = [], []
    for cluster, (name, count) in enumerate(counts.items(), 1):
        own = {"Owner": f'"{name.rpartition(".")[2]}"', "AccountingGroup": f'"{name}"'}
        jobs += jobs_of(name, count, cluster, **(own | changed))
        submitters.append(submitter(name, count))
    return snapshot(slots, jobs, submitters=submitters)


def run(bundle, found, state=None, now=NOW):
    """Run one cycle of a pool."""
    return run_cycle(found, bundle, Cycle(1, now, bundle.digest), state)


def shares(result):
    """Return the number of matches of each submitter, without domain."""
    return dict(Counter(entry.submitter.partition("@")[0] for entry in result.journal))


def write_knobs(folder, knobs):
    """Write a bundle whose HTCondor configuration file has these knobs, one a line."""
    folder.mkdir()
    (folder / "pool.yaml").write_text("order: submitters\n")
    lines = (f"{name} = {text}\n" for name, text in knobs.items())
    (folder / "condor_config").write_text("".join(lines))
    return folder


def settings_of(knobs):
    """Return the settings of the plugin."""
    with tempfile.TemporaryDirectory() as folder:
        return load_bundle(write_knobs(Path(folder) / "bundle", knobs)).settings["fairshare"]


def problems_of(knobs):
    """Return the problems that a check of the bundle reports, one line each."""
    with tempfile.TemporaryDirectory() as folder:
        return [str(each) for each in check_bundle(write_knobs(Path(folder) / "bundle", knobs))]
