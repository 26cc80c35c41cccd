"""The cluster that conformance cases of Grid Engine were recorded on (``env_std.yaml``), for the quota interface."""

from fractions import Fraction

import attrs
import numpy as np

from gridengine_parse import complexes_of
from negotiator_quotasets.complexes import STANDARD, Complexes, parse_number
from negotiator_quotasets.deciding import AllocationSimulator, Job
from negotiator_quotasets.matching import HostQueueIndex, Hosts
from negotiator_quotasets.pool import Offers


@attrs.frozen
class Cluster:
    """Hosts, queues and what is declared of them, made of the mapping in the file."""

    env: dict
    complexes: Complexes
    spots: HostQueueIndex
    offers: Offers
    pes: dict

    @classmethod
    def of(cls, env):
        """The cluster that a mapping says."""
        declared = list(complexes_of(env["complexes"]))
        words = {word for each in declared for word in (each.name, each.shortcut)}
        complexes = Complexes(
            [*declared, *(each for each in STANDARD if not {each.name, each.shortcut} & words)]
        )
        hosts = Hosts(list(env["hosts"]), env["hostgroups"])
        rows, queues = [], []
        for name, queue in env["queues"].items():
            for row in _in_order(queue["hosts"], env["hostgroups"], list(env["hosts"])):
                rows.append(row)
                queues.append(name)
        numbers = {each.name: each for each in complexes if each.type.is_number}
        had = [{**host, **host["capacities"]} for host in env["hosts"].values()]
        spots = HostQueueIndex(
            hosts,
            np.array(rows, np.intp),
            np.arange(len(rows), dtype=np.int32),
            queues,
            {
                name: [parse_number(each.type, _text(host[name])) if name in host else None for host in had]
                for name, each in numbers.items()
            },
        )
        said = [
            {
                "hostname": name,
                **{key: _text(value) for key, value in host.items() if key != "capacities"},
                **host["capacities"],
            }
            for name, host in env["hosts"].items()
        ]
        offers = Offers(
            {},
            lambda name: [None if host.get(name) is None else _text(host[name]) for host in said],
            lambda name: {"slots": str(env["queues"][name]["slots_per_instance"])},
        )
        pes = {name: str(rule).split(" ")[0] for name, rule in env["pes"].items()}
        return cls(env, complexes, spots, offers, pes)

    def desk(self, sets):
        """Where decisions are made under some rule sets."""
        return AllocationSimulator(
            sets, self.complexes, self.env["usersets"], self.spots, self.offers, self.pes
        )

    def job(self, entry):
        """A job of a case."""
        group = self.env["unix_group"].get(entry["user"])
        names = {name: _text(value) for name, value in entry.get("resources", {}).items()}
        return Job(
            user=entry["user"],
            groups=(group,) if group else (),
            project=entry.get("project"),
            pe=entry.get("pe"),
            slots=entry.get("slots", 1),
            resources={self._full(name): value for name, value in names.items()},
            queue=entry.get("queue", ""),
            host=entry.get("host", ""),
        )

    def on_host(self, name):
        """What formulas may know of a host."""
        row = [each.lower() for each in self.spots.hosts.names].index(name.lower())
        return {key: values[row] for key, values in self.spots.values.items()}

    def _full(self, name):
        found = self.complexes.find(name)
        return found.name if found else name


def _in_order(name, groups, hosts):
    """The rows of the hosts that a host group has, in its order."""
    if name.startswith("@"):
        return [row for member in groups[name] for row in _in_order(member, groups, hosts)]
    return [hosts.index(name)]


def _text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return str(Fraction(value)) if isinstance(value, int) else str(value)
