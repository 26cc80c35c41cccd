"""Use case: the queue of one application, without placing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from negotiator.app.pool_view import PoolView
from negotiator.app.subject import Subject, resolve_subject
from negotiator.audit.queueing import placement_fields
from negotiator.errors import CommandError
from negotiator.hooks.placement import Application
from negotiator.placement import AccessCache, Chain, Placement
from negotiator.placement.chain import NO_RULE_MATCHED, ApplicationPlacement

GROUPS_UNKNOWN = "groups_unknown"
_TEXTS = {
    NO_RULE_MATCHED: "no placement rule matched",
    "no_user": "the job's owner is missing or invalid",
    GROUPS_UNKNOWN: "a plugin failed, so the groups of the user are unknown",
}


def rejection(placement: Placement) -> str:
    """Return why an application was rejected, for people."""
    text = _TEXTS.get(placement.code)
    return text or (placement.steps[-1].text if placement.steps else placement.code)


@attrs.frozen
class PlacementOutcome:
    """The outcome for one application.

    ``created`` are the queues that would be created, from the top. ``unread_tags`` are given tags that no rule reads.
    """

    application: Application
    subject: Subject
    placement: Placement
    chain: Chain
    created: tuple[str, ...] = ()
    unread_tags: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, Any]:
        """The outcome as plain data: the fields of the audit record, and the queues that would be created."""
        fields = placement_fields(ApplicationPlacement(self.application, 1, "", self.placement))
        about = {name: field for name, field in fields.items() if name not in {"jobs", "first_job"}}
        return {"placed": self.placement.placed, **about, "created": list(self.created)}


def place_application(
    view: PoolView,
    user: str,
    groups: Sequence[str] = (),
    queue: str = "",
    tags: Mapping[str, str] | None = None,
    *,
    forced: bool = False,
) -> PlacementOutcome:
    """Place an application among copies of the queues, since queues that would be created are part of the answer.

    :param groups: the user's groups, the primary one first; looked up if empty.
    :param tags: job attributes, by name in lower case.
    :raises CommandError: no plugin brings placement rules.
    :raises InvalidCallError: the user is missing, or the name of a group is invalid.
    :raises StateError: the state cannot be read.
    """
    chain = chain_of(view)
    subject = resolve_subject(view.bundle, user, groups, view.now)
    given = tags or {}
    read = {name: text for name, text in given.items() if name in chain.tags}
    unread = tuple(sorted(given.keys() - chain.tags))
    application = Application(subject.user, subject.groups, queue, read, forced)
    if not subject.known:
        unknown = Placement("", GROUPS_UNKNOWN, ())
        return PlacementOutcome(application, subject, unknown, chain, unread_tags=unread)
    queues = view.queues.mutable()
    queues.clean(view.busy_queues, view.now)  # as a cycle does before it places
    cache = AccessCache(view.bundle.hooks, view.bundle.settings, queues.view)
    (placement,), changes = chain.place([application], queues, cache, view.now)
    created = tuple(change.path for change in changes)
    return PlacementOutcome(application, subject, placement, chain, created, unread)


def chain_of(view: PoolView) -> Chain:
    """Return the placement rules of the bundle; :raises CommandError: no plugin brings placement rules."""
    if view.bundle.chain is None:
        raise CommandError("no plugin brings placement rules: jobs have no queue")
    return view.bundle.chain
