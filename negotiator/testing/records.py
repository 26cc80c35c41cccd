"""The records that hooks receive, made from text and a few keywords."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from negotiator.classad import Ad, Table, parse_ad
from negotiator.hooks.placement import ConfiguredRule
from negotiator.hooks.records import Cycle, Match, Request
from negotiator.hooks.reports import CycleSummary
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.longform import read_long
from negotiator.queues import ROOT, Acl, Queue, QueueConfig, QueueTree
from negotiator.queues.acl import NOBODY
from negotiator.queues.names import upwards
from negotiator.records import Problem, Source


def ads(text: str) -> tuple[Ad, ...]:
    """Read ads from text: new syntax (``[ a = 1 ]``, one ad a line) or long form (blank lines between ads).

    :raises ValueError: an ad does not parse.
    """
    if text.lstrip().startswith("["):
        return tuple(parse_ad(line) for line in text.strip().splitlines() if line.strip())
    parsed = []
    for each in read_long([text], "text", pool_dictionary()):
        if isinstance(each, Problem):
            raise ValueError(str(each))  # noqa: TRY004 - the text is wrong, not its type
        parsed.append(each.ad)
    return tuple(parsed)


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
    """Make a request of jobs like the one ad in the text, all of one application.

    The user is the ad's Owner. ``resources`` are those that one job requests, in the units of queues.yaml; ``unknown`` are
    those without an amount in the job. Neither is read from the ad.
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


def cycle_record(*, number: int = 1, now: float = 1_750_000_000.0) -> Cycle:
    """Make the ``Cycle`` that hooks receive, at a fixed time."""
    return Cycle(number, now, digest="0" * 64)


def match(job: str = 'Owner = "alice"', slot: str = 'Name = "slot1@a"', *, ordinal: int = 1) -> Match:
    """Make a match of the one job and the one slot in two texts."""
    (job_ad,), (slot_ad,) = ads(job), ads(slot)
    submitter = f"{job_ad.string('Owner') or 'alice'}@example.org"
    name = slot_ad.string("Name") or "slot1@a"
    return Match(
        f"1.{ordinal}", submitter, "schedd@example.org", f"{ordinal}.0", name, job_ad, slot_ad, rank=0.0
    )


def summary(matches: Iterable[Match] = ()) -> CycleSummary:
    """Make the summary of a cycle that delivered these matches and denied nothing."""
    return CycleSummary(matches=tuple(matches))


def queues(submit: Mapping[str, str] | None = None) -> QueueTree:
    """Make queues of full paths with their ``submitacl``, and the root and all queues above them."""
    lists = {path.lower(): Acl.parse(acl) for path, acl in (submit or {}).items()}
    paths = {above for path in (ROOT, *lists) for above in upwards(path)}
    parents = {above for path in paths for above in upwards(path) if above != path}
    configs = {path: QueueConfig(path, path not in parents, submit=lists.get(path, NOBODY)) for path in paths}
    return QueueTree({path: Queue(config, managed=True, since=0.0) for path, config in configs.items()})


def rule(
    value: str = "", *, name: str = "tested", create: bool = False, groups: Sequence[str] | None = None
) -> ConfiguredRule:
    """Make a rule as ``queues.yaml`` may configure it, for ``target`` of a PlacementRule.

    Its filter lets ``groups`` through, or every group.
    """
    return ConfiguredRule(
        name, value, create, lambda group: groups is None or group in groups, Source("queues.yaml")
    )
