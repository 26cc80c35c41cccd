"""The cluster on which the decision cases of Grid Engine were recorded (``env_std.yaml``), as a site of this product."""

import re
import tempfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import attrs
import yaml

from gridengine_allocation import Allocation, Job
from gridengine_parse import complexes_of
from gridengine_site import gridengine
from negotiator.bundle import load_bundle
from negotiator.classad import Table
from negotiator.queues import QueueTree
from negotiator_quotasets.complexes import STANDARD, Complexes
from pools import NOW, slot


@attrs.frozen(eq=False)
class Site:
    """Hosts with a slot each, queues with their hosts, and a loaded bundle."""

    hosts: list[str]
    queues: Mapping[str, list[str]]
    pes: Mapping[str, str]
    slots: Table
    queue_tree: QueueTree
    hooks: object  # the HookManager of the bundle
    settings: Mapping[str, object]

    @classmethod
    def of(cls, hosts, queues, pes, engine):
        """Load a bundle with these queues and this ``gridengine.yaml``, which may be a mapping."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "queues.yaml").write_text(yaml.safe_dump(_partition(queues)))
            (Path(folder) / "gridengine.yaml").write_text(yaml.safe_dump(engine))
            bundle = load_bundle(Path(folder))
        tree = QueueTree.of(bundle.partition.root, NOW)
        slots = Table.from_ads([slot(Name=f'"slot1@{host}"', Machine=f'"{host}"') for host in hosts])
        return cls(hosts, queues, pes, slots, tree, bundle.hooks, bundle.settings)

    def allocation(self, rulesets, *, numeric_formulas=False):
        """Where jobs are decided about under some rule sets, as a text."""
        settings = self.settings["quotasets"]
        engine = attrs.evolve(settings.gridengine, numeric_formulas=numeric_formulas)
        return Allocation(self, attrs.evolve(settings, files={"rules.rqs": rulesets}, gridengine=engine))


def _partition(queues):
    leaves = [{"name": name} for name in queues]
    root = {"name": "root", "submitacl": "*", "queues": leaves}
    return {"partitions": [{"name": "default", "queues": [root]}]}


@attrs.frozen
class Cluster:
    """The recorded cluster: ``env`` is the contents of its file, ``site`` the corresponding site."""

    env: dict
    complexes: Complexes
    site: Site

    @classmethod
    def of(cls, env):
        """The cluster that a mapping says."""
        declared = list(complexes_of(env["complexes"]))
        names = {name for each in declared for name in (each.name, each.shortcut)}
        standard = (each for each in STANDARD if not {each.name, each.shortcut} & names)
        pes = {name: str(rule).split(" ")[0] for name, rule in env["pes"].items()}
        queues = {
            here(name): list(_in_order(queue["hosts"], env["hostgroups"]))
            for name, queue in env["queues"].items()
        }
        engine = gridengine({**env, "queues": {here(name): queue for name, queue in env["queues"].items()}})
        return cls(env, Complexes([*declared, *standard]), Site.of(list(env["hosts"]), queues, pes, engine))

    def allocation(self, rulesets, *, numeric_formulas=False):
        """Where jobs are decided about under some rule sets, as a text."""
        return self.site.allocation(here(rulesets), numeric_formulas=numeric_formulas)

    def job(self, entry):
        """Return a job of a case."""
        group = self.env["unix_group"].get(entry["user"])
        return Job(
            user=entry["user"],
            groups=(group,) if group else (),
            project=entry.get("project"),
            pe=entry.get("pe"),
            slots=entry.get("slots", 1),
            resources={self._full(name): _text(value) for name, value in entry.get("resources", {}).items()},
            queue=here(entry.get("queue", "")),
            host=entry.get("host", ""),
        )

    def _full(self, name):
        found = self.complexes.find(name)
        return found.name if found else name


def here(text):
    """Return a text with the names of queues of the site, in which a dot would separate a queue from its parent."""
    return re.sub(r"\.q\b", "_q", text)


def recorded(text):
    """Return a text with the recorded names of queues."""
    return re.sub(r"_q\b", ".q", text)


def _in_order(name, groups):
    """Return the hosts of a host group, in its order."""
    if name.startswith("@"):
        return [host for member in groups[name] for host in _in_order(member, groups)]
    return [name]


def _text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return str(Fraction(value)) if isinstance(value, int) else str(value)
