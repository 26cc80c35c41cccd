r"""For the tests of plugins: tables from text, requests, cycles, and one hook called as the program calls it.

Example::

    def test_a_machine_under_maintenance_gets_no_match(tmp_path):
        slots = table('Name = "slot1@a"\nMachine = "a"')
        [filter] = call("maintenance.py", "negotiator_filter_slots", slots=slots, settings=Settings(calendar))
        assert list(filter.allow) == [False]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from negotiator.classad import ClassAd, Table, parse_ad
from negotiator.hooks import dropins, specs
from negotiator.hooks.access import UserGroups
from negotiator.hooks.charges import CounterUsage
from negotiator.hooks.manager import Answers, HookFailure, HookManager, LoadedPlugin
from negotiator.hooks.placement import ConfiguredRule
from negotiator.hooks.pluggy_adapter import Registry, specs_of
from negotiator.hooks.records import AdKind, Cycle, Match, Request
from negotiator.hooks.settings import PluginSettings
from negotiator.hooks.vetting import vet
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.longform import read_long
from negotiator.queues import ROOT, Acl, Queue, QueueConfig, QueueTree
from negotiator.queues.acl import NOBODY
from negotiator.queues.names import upwards
from negotiator.records import Problem, Severity, Source

NAME = "tested"


class PluginFailedError(AssertionError):
    """The plugin would have been refused, or the call would have been reported as a failure; the text says why."""


def ads(text: str) -> tuple[ClassAd, ...]:
    """Read ads from text: new syntax (``[ a = 1 ]``, one ad a line) or long form (blank lines between ads).

    ValueError where one does not parse.
    """
    if text.lstrip().startswith("["):
        return tuple(parse_ad(line) for line in text.strip().splitlines() if line.strip())
    found = []
    for each in read_long([text], "text", pool_dictionary()):
        if isinstance(each, Problem):
            raise ValueError(str(each))  # noqa: TRY004 - the text is wrong, not its type
        found.append(each.ad)
    return tuple(found)


def table(text: str) -> Table:
    """Make a table of the ads in a text, one a row; see ``ads``."""
    return Table.from_ads(ads(text))


def request(
    text: str = 'Owner = "alice"\nRequestCpus = 1',
    *,
    count: int = 1,
    first_job: str = "1.0",
    queue: str = "root.default",
    group: str = "",
    resources: Mapping[str, int] | None = None,
    unknown: Collection[str] = (),
) -> Request:
    """Make a request of jobs that are like the one ad in the text, all of one application.

    The user is the ad's Owner. ``resources`` is what one job asks for, in the units of queues.yaml: nothing is read from
    the ad.
    """
    (ad,) = ads(text)
    schedd, user = "schedd@example.org", ad.string("Owner") or "alice"
    return Request(
        submitter=ad.string("User") or f"{user}@example.org",
        schedd=schedd,
        ad=ad,
        count=count,
        first_job=first_job,
        queue=queue,
        user=user,
        group=group,
        resources={**dict.fromkeys(unknown, 0), **(resources or {})},
        unknown=frozenset(unknown),
        applications=(f"{schedd}#{first_job.partition('.')[0]}",) * count,
    )


def cycle(*, number: int = 1, now: float = 1_750_000_000.0) -> Cycle:
    """Make a cycle at a fixed time."""
    return Cycle(number, now, digest="0" * 64)


def match(job: str = 'Owner = "alice"', slot: str = 'Name = "slot1@a"', *, ordinal: int = 1) -> Match:
    """Make a match of the one job and the one slot in two texts."""
    (job_ad,), (slot_ad,) = ads(job), ads(slot)
    submitter = f"{job_ad.string('Owner') or 'alice'}@example.org"
    name = slot_ad.string("Name") or "slot1@a"
    return Match(
        f"1.{ordinal}", submitter, "schedd@example.org", f"{ordinal}.0", name, job_ad, slot_ad, rank=0.0
    )


def queues(submit: Mapping[str, str] | None = None) -> QueueTree:
    """Make queues of full paths with their ``submitacl``; the root, and those above them, are there as well."""
    lists = {path.lower(): Acl.parse(acl) for path, acl in (submit or {}).items()}
    paths = {above for path in (ROOT, *lists) for above in upwards(path)}
    parents = {above for path in paths for above in upwards(path) if above != path}
    made = {path: QueueConfig(path, path not in parents, submit=lists.get(path, NOBODY)) for path in paths}
    return QueueTree({path: Queue(config, managed=True, since=0.0) for path, config in made.items()})


def rule(
    value: str = "", *, name: str = "tested", create: bool = False, groups: Sequence[str] | None = None
) -> ConfiguredRule:
    """Make a rule as it might stand in ``queues.yaml``, for ``target`` of a PlacementRule.

    Its filter lets ``groups`` through, or every group.
    """
    return ConfiguredRule(
        name, value, create, lambda group: groups is None or group in groups, Source("queues.yaml")
    )


def call(plugin: object, hook: str, **arguments: Any) -> tuple[Any, ...]:
    """Call one hook of a plugin through the guard, and return the records of its answer.

    ``plugin`` is a module, an object, or the path of a ``.py`` file or package (loaded anew at each call, without the
    checks of who could have written it). Arguments that are left out are an empty table, one request, one cycle and its
    time, no question, user, match or change, the root queue alone, the report ``users`` of nothing, no settings.
    ``negotiator_job_attributes`` gives the names in lower case, ``negotiator_access`` an answer for each question,
    ``negotiator_user_groups`` the users that are known in the order in which they were asked about.

    PluginFailedError where the plugin would be refused, has no such hook, raises, or gives a wrong answer.
    """
    manager = load(plugin)
    if hook not in {name for info in manager.plugins for name in info.hooks}:
        raise PluginFailedError(
            f"the plugin has no hook {hook}; it has: {', '.join(manager.plugins[0].hooks)}"
        )
    records, failures = _ask(manager, hook, arguments)
    if failures:
        raise PluginFailedError("\n".join(map(str, failures)))
    return records


def load(plugin: object) -> HookManager:
    """Give the manager of this one plugin, called ``tested``. PluginFailedError where it would be refused."""
    if isinstance(plugin, str | Path):
        plugin = _from_path(Path(plugin))
    problems = tuple(vet(plugin, NAME, "plugin", specs_of(specs)))
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise PluginFailedError("\n".join(map(str, problems)))
    registry = Registry(specs)
    registry.register(plugin, NAME)
    return HookManager(
        registry, [LoadedPlugin(NAME, "0", "plugin")], PluginSettings(slow_seconds=float("inf"))
    )


def _from_path(path: Path) -> ModuleType:
    plugin = dropins.DropIn(path.stem, path.resolve(), path.resolve().parent)
    return dropins.load(plugin, dropins.read(plugin, trusted=False))


def _ask(
    manager: HookManager, hook: str, arguments: dict[str, Any]
) -> tuple[tuple[Any, ...], tuple[HookFailure, ...]]:
    settings = {NAME: arguments.get("settings")}
    at = arguments.get("cycle") or cycle()
    match hook:
        case "negotiator_gate_ads":
            kind = arguments.get("kind", AdKind.STARTD)
            return _plain(manager.gate_ads(kind, arguments.get("ads", table("")), at, settings))
        case "negotiator_filter_slots":
            asking = arguments.get("request") or request()
            return _plain(manager.filter_slots(asking, arguments.get("slots", table("")), at, settings))
        case "negotiator_charges":
            asking, slots = arguments.get("request") or request(), arguments.get("slots", table(""))
            return _plain(manager.charges(asking, slots, arguments.get("queues") or queues(), at, settings))
        case "negotiator_usage":
            used = arguments.get("used") or CounterUsage({}, {}, {})
            report, spec_names = arguments.get("report", "users"), arguments.get("spec_names", False)
            tree = arguments.get("queues") or queues()
            return _plain(manager.usage(report, lambda _: used, tree, settings, spec_names=spec_names))
        case "negotiator_access":
            asked = arguments.get("questions", ())
            answers, failures = manager.access(asked, arguments.get("queues") or queues(), settings)
            return tuple(stamped.record for stamped in answers), failures
        case "negotiator_user_groups":
            users = arguments.get("users", ())
            found, failures = manager.user_groups(users, arguments.get("now", at.now), settings)
            return tuple(UserGroups(user, groups) for user, groups in found.items()), failures
        case "negotiator_placement_rules":
            return _plain(manager.placement_rules())
        case "negotiator_matches_made":
            return (), manager.matches_made(arguments.get("matches", ()), at, settings)
        case "negotiator_queues_changed":
            return (), manager.queues_changed(arguments.get("changes", ()), at, settings)
        case "negotiator_job_attributes":
            names, failures = manager.job_attributes(settings)
            return tuple(sorted(names or ())), failures
        case "negotiator_constraints":
            return _plain(manager.constraints(settings))
        case "negotiator_section":
            return _plain(manager.sections())
        case _:
            return _plain(manager.commands())


def _plain(answers: Answers[Any]) -> tuple[tuple[Any, ...], tuple[HookFailure, ...]]:
    return tuple(stamped.record for stamped in answers.records), answers.failures
