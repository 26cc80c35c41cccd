"""Small pools, bundles from text, and one cycle over them: what tests of the cycle and of bundles share."""

from pathlib import Path

from negotiator.bundle import default_bundle, load_bundle
from negotiator.classad import ClassAd, Table, parse_old
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Mode, Station

NOW = 1_800_000_000.0


def ad(**items):
    """An ad from names and long-form values; None drops a name."""
    return ClassAd([(name, parse_old(value)) for name, value in items.items() if value is not None])


def slot(number=0, **changed):
    """An idle slot of 4 processors and 4 GB."""
    own = {"Name": f'"s{number}@h"', "Machine": '"h"', "State": '"Unclaimed"', "Requirements": "true"}
    return ad(**(own | {"Cpus": "4", "Memory": "4096", "Disk": "9000"} | changed))


def job(number=0, **changed):
    """An idle job of tester."""
    own = {"ClusterId": "1", "ProcId": str(number), "JobStatus": "1", "Requirements": "true"}
    return ad(**(own | {"Owner": '"tester"', "User": '"tester@d"', "Cmd": '"/bin/true"'} | changed))


def snapshot(slots=(), jobs=(), schedds=(), submitters=()):
    """A pool of these ads."""
    tables = {"slots": slots, "jobs": jobs, "schedds": schedds, "submitters": submitters}
    return Snapshot(**{name: Table.from_ads(list(ads)) for name, ads in tables.items()})


def cycle(pool, bundle=None, number=1):
    """One cycle over a pool under a bundle, which may be a folder; the built-in one where there is none."""
    if not hasattr(bundle, "digest"):
        bundle = load_bundle(Path(bundle) if bundle else default_bundle())
    return run_cycle(pool, bundle, Cycle(number, NOW, bundle.digest))


def write_bundle(folder, pool_yaml="", plugins=None, conf=None):
    """Write a bundle from text: ``pool.yaml``, plugin files by name, and an HTCondor configuration file."""
    folder.mkdir(parents=True)
    if plugins:
        (folder / "plugins").mkdir(mode=0o755)
        for name, text in plugins.items():
            (folder / "plugins" / f"{name}.py").write_text(text)
        pool_yaml += "\nplugins:\n  folders: [plugins]\n"
    (folder / "pool.yaml").write_text(pool_yaml)
    if conf is not None:
        (folder / "central.conf").write_text(conf)
    return load_bundle(folder)


def matched(result):
    """The matches as (job, slot)."""
    return [(match.job, match.slot) for match in result.matches]


def rules(result):
    """The rules that kept ads out or removed slots."""
    discarded = {item.reason.provenance.rule for item in result.discarded}
    removals = {item.reason.provenance.rule for outcome in result.outcomes for item in outcome.removals}
    return discarded | removals


def denials(result):
    """What station charge refused: (code, verdict, text, numbers), by request."""
    removals = [item.reason for outcome in result.outcomes for item in outcome.removals]
    return [
        (reason.code, str(reason.verdict), reason.text, reason.numbers)
        for reason in removals
        if reason.provenance.station is Station.CHARGE
    ]


def used(result, mode=Mode.ENFORCE):
    """What is counted after a cycle: sums and sets of keys by the parts of their names, with a dot between."""
    counters = result.ledger.counters(mode)
    sums = {".".join(key): amount for key, amount in counters if amount}
    return sums | {".".join(key): dict(members) for key, members in counters.key_sets() if members}


def reasons(result):
    """The codes of all reasons: of discarded ads, and of removed slots."""
    discarded = {item.reason.code for item in result.discarded}
    return discarded | {item.reason.code for outcome in result.outcomes for item in outcome.removals}
