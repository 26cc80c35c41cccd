"""The applications of job ads: their users, their keys in the registry, and what placement rules read of them."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle, PlacementSettings
from negotiator.classad import Ad, Environment, Expr, Table, bind, evaluate, evaluate_table, parse
from negotiator.cycle.group_names import groups_of, is_name
from negotiator.cycle.jobs import NO_TEXT, Strings, TextColumn, made_of, schedd_of, texts
from negotiator.cycle.numbering import Numbers, by_appearance, combined, first_rows, numbered
from negotiator.hooks.placement import Application
from negotiator.queues.applications import ApplicationRegistry, Keys, keys_of

_CLUSTER = "ClusterId"
_CLUSTERS = 2.0**32  # a larger number is invalid, and would wrap to a different one as an integer of 32 bits


@attrs.frozen
class JobApplications:
    """The users of a table of jobs, and the kinds of their applications.

    ``kinds`` (N,) numbers the applications that placement rules can distinguish, in the order of first appearance.
    """

    users: TextColumn
    kinds: Numbers
    _queue: TextColumn
    _groups: TextColumn
    _forced: NDArray[np.bool_]
    _tags: Mapping[str, TextColumn]

    def application(self, row: int, groups: Mapping[str, tuple[str, ...] | None]) -> Application:
        """Return the application of a row as the rules see it; a user whose groups are unknown is in none."""
        user = self.users.text(row)
        own = groups_of(self._groups.text(row)) if self._groups.codes[row] != NO_TEXT else groups.get(user)
        tags = {name: texts.text(row) for name, texts in self._tags.items() if texts.codes[row] != NO_TEXT}
        return Application(user, own or (), self._queue.text(row), tags, bool(self._forced[row]))

    def knows_groups(self, row: int, groups: Mapping[str, tuple[str, ...] | None]) -> bool:
        """True if the groups of a row's user were resolved, from the job or by a plugin."""
        return self._groups.codes[row] != NO_TEXT or groups.get(self.users.text(row), ()) is not None


def applications(jobs: Table, bundle: Bundle, env: Environment) -> JobApplications:
    """Read the applications of a table of jobs."""
    settings = bundle.placement
    users = _texts(settings.user.tree, jobs, env)
    queue = _texts(settings.queue.tree, jobs, env)
    groups = _texts(settings.groups.tree, jobs, env)
    forced = np.broadcast_to(evaluate_table(settings.forced.tree, jobs, env=env).is_true(), (len(jobs),))
    names = sorted(bundle.chain.tags) if bundle.chain else []
    tags = {name: _texts(_attribute(name), jobs, env) for name in names}
    columns = (users.codes, queue.codes, groups.codes, forced.astype(np.int8))
    kinds = by_appearance(*columns, *(texts.codes for texts in tags.values()))
    return JobApplications(users, kinds, queue, groups, forced, tags)


def keys(jobs: Table, users: TextColumn, registry: ApplicationRegistry) -> Keys:
    """Return the keys of the jobs' applications in a registry, (N,)."""
    where = texts(jobs, "GlobalJobId").mapped("schedd", schedd_of)
    owners, pairs = combined(where.codes, users.codes)
    first = first_rows(owners, pairs).tolist()
    known = np.array([registry.owner(where.text(row), users.text(row)) for row in first], np.int64)
    clusters = jobs.numbers(_CLUSTER, default=-1.0)
    sound = (
        (clusters >= 0) & (clusters < _CLUSTERS) & (clusters == np.floor(clusters)) & (users.codes != NO_TEXT)
    )
    return keys_of(known[owners] if pairs else owners, np.where(sound, clusters, -1).astype(np.int64))


def application_keys(
    jobs: Table, settings: PlacementSettings, env: Environment, registry: ApplicationRegistry
) -> Keys:
    """Return the keys of the applications of a table of jobs, (N,)."""
    return keys(jobs, _texts(settings.user.tree, jobs, env), registry)


def application_users(jobs: Table, settings: PlacementSettings, env: Environment) -> Strings:
    """Return the users of the applications of a table of jobs, (N,) of str; empty where a job names none."""
    return made_of([_texts(settings.user.tree, jobs, env)], str)


def users_without_groups(jobs: Table, settings: PlacementSettings, env: Environment) -> tuple[str, ...]:
    """Return the users whose groups no job specifies, each once: plugins have to resolve them.

    Invalid names are omitted: their jobs are rejected anyway, and a plugin must not answer with such a name.
    """
    users = _texts(settings.user.tree, jobs, env)
    silent = _texts(settings.groups.tree, jobs, env).codes == NO_TEXT
    rows = np.flatnonzero(silent & (users.codes != NO_TEXT))
    numbers, count = numbered(users.codes[rows])
    found = (users.text(int(rows[place])) for place in first_rows(numbers, count).tolist())
    return tuple(filter(is_name, found))


def user_groups(
    job: Ad,
    user: str,
    settings: PlacementSettings,
    known: Mapping[str, tuple[str, ...] | None],
    env: Environment,
) -> tuple[str, ...]:
    """Return the groups of a job's user: those that the job specifies, else the resolved ones; none if unknown."""
    value = evaluate(settings.groups.tree, job, None, env)
    return groups_of(value) if isinstance(value, str) else known.get(user) or ()


def groups_of_users(
    jobs: Table,
    users: Strings,
    settings: PlacementSettings,
    known: Mapping[str, tuple[str, ...] | None],
    env: Environment,
) -> list[tuple[str, ...]]:
    """Return what ``user_groups`` returns for each job of a table."""
    specified = _texts(settings.groups.tree, jobs, env)
    return [
        groups_of(specified.text(row)) if code != NO_TEXT else known.get(user) or ()
        for row, (code, user) in enumerate(zip(specified.codes.tolist(), users.tolist(), strict=True))
    ]


def _texts(tree: Expr, jobs: Table, env: Environment) -> TextColumn:
    return TextColumn.of(evaluate_table(tree, jobs, env=env))


def _attribute(name: str) -> Expr:
    """Return the reference to a tag; a name that is not an identifier is quoted, as in ClassAds."""
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return bind(parse(f"MY.'{quoted}'"))
