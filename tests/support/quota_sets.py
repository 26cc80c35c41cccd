"""Rule sets over small pools, for tests of resource quota sets."""

from fractions import Fraction

import numpy as np
import yaml

from negotiator.bundle import load_bundle
from negotiator.ledger import Grouping
from negotiator_quotasets.complexes import STANDARD, Complex, Complexes, ComplexType, Consumable, Relation
from negotiator_quotasets.language import parse_sets
from negotiator_quotasets.matching import HostIndex, Hosts
from pools import cycle, slot, snapshot

LICENCE = Complex("lic", "l", ComplexType.INT, Relation.LE, consumable=Consumable.YES)
SHARED = Complex("shared", "sh", ComplexType.DOUBLE, Relation.LE, consumable=Consumable.JOB)
MEMORY = Complex("mem", "m", ComplexType.MEMORY, Relation.LE, consumable=Consumable.YES, default="1M")
TIME = Complex("tm", "t", ComplexType.TIME, Relation.LE, consumable=Consumable.YES)
COMPLEXES = Complexes([*STANDARD, LICENCE, SHARED, MEMORY, TIME])

ENGINE = """
complexes:
  - {name: lic, shortcut: l, type: INT, relop: <=, consumable: "YES"}
  - {name: shared, shortcut: sh, type: DOUBLE, relop: <=, consumable: JOB}
  - {name: mem, shortcut: m, type: MEMORY, relop: <=, consumable: "YES", default: 1M}
  - {name: tm, shortcut: t, type: TIME, relop: <=, consumable: "YES"}
  - {name: static, shortcut: st, type: INT, relop: <=}
  - {name: word, shortcut: w, type: RESTRING, relop: ==}
usersets:
  staff: [roland, andre, "@wheel"]
hostgroups:
  "@lx": [lxa, lxb]
"""
"""Some complexes, a user set and a host group, as gridengine.yaml declares them."""


COMPLEXES_YAML = {"complexes": yaml.safe_load(ENGINE)["complexes"]}


def rules(*lines, name="r", further=""):
    """Return a rule set of these rules, each without its ``limit``."""
    body = "".join(f" limit {line}\n" for line in lines)
    return f"{{\n name {name}\n{further}{body}}}\n"


def parsed(text, complexes=COMPLEXES):
    """Return the sets of a text without errors."""
    result = parse_sets(text, "a.rqs", complexes, numeric_formulas=True)
    assert not result.problems
    return result.sets


def host_index(*hosts, slots=1, groups=None, **values):
    """Return an index of hosts with so many slots each."""
    return HostIndex(
        Hosts(list(hosts), groups or {"@lx": ("lxa", "lxb")}),
        np.repeat(np.arange(len(hosts)), slots).astype(np.int32),
        {
            name: [None if each is None else Fraction(each) for each in column]
            for name, column in values.items()
        },
    )


def on_slots(charge):
    """Return the counter, as a text, and the limit of a charge on each slot; None where nothing is charged."""
    size = len(charge.counter.codes) if isinstance(charge.counter, Grouping) else 1
    found = []
    for row in range(size):
        key = charge.counter
        if isinstance(key, Grouping):
            code = int(key.codes[row])
            key = key.keys[code] if code >= 0 else None
        limit = int(charge.limit[row]) if isinstance(charge.limit, np.ndarray) else charge.limit
        found.append(None if key is None else ("/".join(key), limit))
    return found


def write(folder, sets="", engine="", pool="", queues=None):
    """Write a bundle with these rule sets and ``gridengine.yaml``; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "pool.yaml": pool,
        "queues.yaml": queues,
        "a.rqs": sets or None,
        "gridengine.yaml": engine or None,
    }
    for name, text in texts.items():
        if text is not None:
            (folder / name).write_text(text)
    return folder


def bundle(folder, *texts, **more):
    """Write and load a bundle."""
    return load_bundle(write(folder / "b", *texts, **more))


def host_slots(*hosts, each=1, **changed):
    """Return idle slots, so many on each host, named ``0@host``, ``1@host`` and so on."""
    return [
        slot(Name=f'"{number}@{host}"', Machine=f'"{host}"', **changed)
        for host in hosts
        for number in range(each)
    ]


def decide(chosen, jobs, slots):
    """Run one cycle."""
    return cycle(snapshot(slots, jobs), chosen)


def counted(result):
    """Return the plugin's counters, by ``rule/resource/users/projects/pes/queues/hosts``."""
    return {"/".join(key[1:]): amount for key, amount in result.ledger.counters() if key[0] == "quotasets"}


def reasons(result):
    """Return the reasons of unmatched jobs: (verdict, code, text), each once, sorted."""
    removals = [each.reason for outcome in result.outcomes for each in outcome.removals]
    return sorted({(str(each.verdict), each.code, each.text) for each in removals})
