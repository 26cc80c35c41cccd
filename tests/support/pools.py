"""Small pools, bundles from text, and one cycle over them, for tests of the cycle and of bundles."""

from pathlib import Path

from negotiator.bundle import default_bundle, load_bundle
from negotiator.classad import Ad, Table, parse_old, unparse
from negotiator.cycle.cycle_time import unwatched
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Mode, Station

NOW = 1_800_000_000.0


def ad(**items):
    """Return an ad from names and long-form values; None removes a name."""
    return Ad([(name, parse_old(value)) for name, value in items.items() if value is not None])


def slot(number=0, **changed):
    """Return an idle slot of 4 processors and 4 GB."""
    own = {"Name": f'"s{number}@h"', "Machine": '"h"', "State": '"Unclaimed"', "Requirements": "true"}
    return ad(**(own | {"Cpus": "4", "Memory": "4096", "Disk": "9000"} | changed))


def job(number=0, **changed):
    """Return an idle job of tester."""
    own = {"ClusterId": "1", "ProcId": str(number), "JobStatus": "1", "Requirements": "true"}
    return ad(**(own | {"Owner": '"tester"', "User": '"tester@d"', "Cmd": '"/bin/true"'} | changed))


def snapshot(slots=(), jobs=(), schedds=(), submitters=()):
    """Return a pool of these ads."""
    tables = {"slots": slots, "jobs": jobs, "schedds": schedds, "submitters": submitters}
    return Snapshot(**{name: Table.from_ads(list(ads)) for name, ads in tables.items()})


def write_ads(file, *ads):
    """Write ads to a file, in long form."""
    lines = ["\n".join(f"{name} = {unparse(tree)}" for name, tree in each.items()) for each in ads]
    file.write_text("\n\n".join(lines) + "\n")


def cycle(pool, bundle=None, number=1, watch=unwatched):
    """Run one cycle over a pool under a bundle or a folder of one; by default the built-in bundle."""
    if not hasattr(bundle, "digest"):
        bundle = load_bundle(Path(bundle) if bundle else default_bundle())
    return run_cycle(pool, bundle, Cycle(number, NOW, bundle.digest), watch=watch)


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
    """Return the matches as (job, slot)."""
    return [(match.job, match.slot) for match in result.matches]


def rules(result):
    """Return the rules that discarded ads or removed slots."""
    discarded = {item.reason.provenance.rule for item in result.discarded}
    removals = {item.reason.provenance.rule for outcome in result.outcomes for item in outcome.removals}
    return discarded | removals


def denials(result):
    """Return the denials of station *charge*: (code, verdict, text, numbers), by request."""
    removals = [item.reason for outcome in result.outcomes for item in outcome.removals]
    return [
        (reason.code, str(reason.verdict), reason.text, reason.numbers)
        for reason in removals
        if reason.provenance.station is Station.CHARGE
    ]


def used(result, mode=Mode.ENFORCE):
    """Return the counters after a cycle: sums and sets of keys by their names, parts joined by dots."""
    counters = result.ledger.counters(mode)
    sums = {".".join(key): amount for key, amount in counters if amount}
    return sums | {".".join(key): dict(members) for key, members in counters.key_sets() if members}


def reasons(result):
    """Return the codes of all reasons, of discarded ads and removed slots."""
    discarded = {item.reason.code for item in result.discarded}
    return discarded | {item.reason.code for outcome in result.outcomes for item in outcome.removals}
