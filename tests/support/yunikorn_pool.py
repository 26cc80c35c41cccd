"""A partition with the queues and rules of a conformance case, written as a file."""

from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import attrs
import yaml

from golden import UnreadableError
from negotiator.bundle import default_bundle, load_bundle
from negotiator.bundle.model import PlacementSettings
from negotiator.bundle.queues import read_queues
from negotiator.bundle.text import SourceText
from negotiator.hooks import specs
from negotiator.hooks.access import AccessKind, AccessQuestion
from negotiator.hooks.placement import Application
from negotiator.placement import AccessCache, Chain, Placement, make_chain
from negotiator.placement.chain import MATCHED, is_granted
from negotiator.queues import MutableQueueTree, PartitionConfig, QueueTree
from negotiator.records import Problem, Severity
from queueing import drain

NOW = 1_700_000_000.0
STATIC = frozenset({"rule_target_missing", "rule_target_not_leaf", "rule_target_below_leaf"})
"""What a rule is refused for because of the queues alone."""
NOT_CREATED = frozenset({"create_under_leaf", "create_under_draining"})
"""Why a queue that a rule gives can't be created."""


class _Dumper(yaml.SafeDumper):
    """Writes no aliases, which the reader does not accept."""

    def ignore_aliases(self, _data):
        return True


@cache
def bundle():
    """Return the built-in bundle, counting for groups as YuniKorn does: its plugins are called in all cases."""
    with TemporaryDirectory() as folder:
        copied = Path(folder, "bundle")
        copytree(default_bundle(), copied)
        with (copied / "pool.yaml").open("a") as file:
            file.write("\ngroup_limits: yunikorn\n")
        return load_bundle(copied)


def document(config):
    """Return the text of the queue configuration of a case, given as text, as partitions, or as one partition."""
    if not isinstance(config, dict):
        raise UnreadableError(f"'config' is to be a mapping, not {config!r:.100}")
    if "text" in config:
        return config["text"]
    whole = config if "partitions" in config else {"partitions": [{"name": "default", **config}]}
    return yaml.dump(whole, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


@attrs.frozen
class Reading:
    """The contents of a configuration; ``codes`` are those of its errors."""

    partition: PartitionConfig
    chain: Chain | None
    codes: frozenset[str]
    problems: tuple[Problem, ...] = ()


def read(config, *, static=True):
    """Read a configuration; without ``static`` targets of rules are not checked."""
    text = document(config)
    hooks = bundle().hooks
    found = read_queues(
        SourceText("queues.yaml", text), PlacementSettings(partition=_partition(config)), hooks
    )
    errors = [problem for problem in found.problems if problem.severity is Severity.ERROR]
    codes = {problem.code or f"an error without a code: {problem.message}" for problem in errors}
    chain = found.chain
    if not static:
        codes -= STATIC
        chain, _ = make_chain(
            found.partition, hooks.ask(specs.negotiator_placement_rules).records, static=False
        )
    return Reading(found.partition, chain, frozenset(codes), tuple(found.problems))


def _partition(config):
    """Return the partition of a case: the default one, or the first."""
    partitions = config.get("partitions")
    names = [
        str(each.get("name") or "default").lower() for each in partitions or () if isinstance(each, dict)
    ]
    return "default" if "default" in names or not names else names[0]


def application(content, chain):
    """Return the attributes of an application of a case that rules may read."""
    tags = {str(name).lower(): str(value) for name, value in (content.get("tags") or {}).items()}
    return Application(
        user=content.get("user") or "",
        groups=tuple(content.get("groups") or ()),
        queue=content.get("queue") or "",
        tags={name: value for name, value in tags.items() if name in chain.tags},
        forced=bool(content.get("forced")),
    )


@attrs.define
class Pool:
    """A partition with its current queues and running applications."""

    queues: MutableQueueTree
    chain: Chain
    running: dict[str, str] = attrs.field(factory=dict)

    @classmethod
    def of(cls, reading):
        """Return the queues of a configuration, without applications."""
        return cls(QueueTree.of(reading.partition.root, NOW).mutable(), reading.chain)

    @property
    def book(self):
        """Return the cache of access answers over the current queues."""
        return AccessCache(bundle().hooks, bundle().settings, self.queues.view)

    def drain(self, state):
        """Bring the queues into the state of a case."""
        for key, paths in (state or {}).items():
            if key != "draining":
                raise UnreadableError(f"'state' has {key!r}, which this runner does not know")
            for path in paths:
                drain(self.queues, path, NOW)

    def decide(self, content):
        """Return the queue where an application would be placed; its creation may fail later."""
        placement = attrs.evolve(self, queues=self.queues.view.mutable()).place(content)
        if placement.code not in NOT_CREATED:
            return placement
        return Placement(placement.steps[-1].queue, MATCHED, placement.steps)

    def place(self, content):
        """Place an application; create its queue."""
        (placement,), _ = self.chain.place([application(content, self.chain)], self.queues, self.book, NOW)
        if placement.placed and self.queues.view.get(placement.queue) is None:
            raise AssertionError(f"{placement.queue} was not made")
        return placement

    def access(self, content):
        """Return whether a user may submit to a queue, and administer it."""
        path, groups = content["queue"].lower(), tuple(content.get("groups") or ())
        kinds = {"submit": AccessKind.SUBMIT, "admin": AccessKind.ADMINISTER}
        book = self.book
        return {
            key: is_granted(book.answer(AccessQuestion(content.get("user") or "", groups, act, path)))
            for key, act in kinds.items()
        }
