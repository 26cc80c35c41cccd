"""The applications that job ads make: whose, from which schedd, and what placement rules may know of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle, PlacementSettings
from negotiator.classad import ClassAd, Environment, Expr, Table, bind, evaluate, evaluate_table, parse
from negotiator.cycle.jobs import schedd_of, texts
from negotiator.cycle.numbering import Numbers, combined, first_rows, numbered
from negotiator.cycle.text_columns import NO_TEXT, Strings, TextColumn, made_of
from negotiator.hooks.placement import Application
from negotiator.queues.applications import ApplicationRegistry, Keys, keys_of

_CLUSTER = "ClusterId"
_CLUSTERS = 2.0**32  # a larger number is no cluster, and would be another one as an integer
_MAX_GROUPS = 1_000
_MAX_NAME = 200


@attrs.frozen
class JobApplications:
    """For the rows of a table of jobs: the users, and the kinds of applications.

    ``kinds`` (N,) numbers what placement rules can tell apart, in the order of first appearance.
    """

    users: TextColumn
    kinds: Numbers
    _queue: TextColumn
    _groups: TextColumn
    _forced: NDArray[np.bool_]
    _tags: Mapping[str, TextColumn]

    def application(self, row: int, groups: Mapping[str, tuple[str, ...] | None]) -> Application:
        """The application of a row, as the rules see it; a user whose groups are not known is in none."""
        user = self.users.text(row)
        own = groups_of(self._groups.text(row)) if self._groups.codes[row] != NO_TEXT else groups.get(user)
        tags = {name: texts.text(row) for name, texts in self._tags.items() if texts.codes[row] != NO_TEXT}
        return Application(user, own or (), self._queue.text(row), tags, bool(self._forced[row]))

    def knows_groups(self, row: int, groups: Mapping[str, tuple[str, ...] | None]) -> bool:
        """Whether the groups of a row's user could be had, from the job or from who was asked."""
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
    numbers, count = combined(*columns, *(texts.codes for texts in tags.values()))
    place = np.empty(count, np.int64)
    place[np.argsort(first_rows(numbers, count))] = np.arange(count)
    return JobApplications(users, place[numbers], queue, groups, forced, tags)


def keys(jobs: Table, users: TextColumn, registry: ApplicationRegistry) -> Keys:
    """The keys of the jobs' applications in a register, (N,)."""
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
    """The keys of the applications of a table of jobs, (N,)."""
    return keys(jobs, _texts(settings.user.tree, jobs, env), registry)


def application_users(jobs: Table, settings: PlacementSettings, env: Environment) -> Strings:
    """The users of the applications of a table of jobs, (N,) of str; empty where a job tells none."""
    return made_of([_texts(settings.user.tree, jobs, env)], str)


def users_without_groups(jobs: Table, settings: PlacementSettings, env: Environment) -> tuple[str, ...]:
    """The users of whom no job tells the groups, each once: whom plugins are to be asked about.

    Not what can be no name: its jobs are rejected anyway, and a plugin that answers with it would answer wrongly.
    """
    users = _texts(settings.user.tree, jobs, env)
    silent = _texts(settings.groups.tree, jobs, env).codes == NO_TEXT
    rows = np.flatnonzero(silent & (users.codes != NO_TEXT))
    numbers, count = numbered(users.codes[rows])
    found = (users.text(int(rows[place])) for place in first_rows(numbers, count).tolist())
    return tuple(filter(is_name, found))


def user_groups(
    job: ClassAd,
    user: str,
    settings: PlacementSettings,
    known: Mapping[str, tuple[str, ...] | None],
    env: Environment,
) -> tuple[str, ...]:
    """The groups of a job's user: as the job says, else as who was asked; none where neither knows."""
    said = evaluate(settings.groups.tree, job, None, env)
    return groups_of(said) if isinstance(said, str) else known.get(user) or ()


@lru_cache(65_536)
def groups_of(text: str) -> tuple[str, ...]:
    """The groups in a string of names separated by commas, each once; what can be no name is left out."""
    names = (name.strip() for name in text.split(",")[:_MAX_GROUPS])
    return tuple(dict.fromkeys(filter(is_name, names)))


def is_name(text: str) -> bool:
    """Whether a text of a job can be a user or a group: policies quote it, and what they say has to be printable."""
    return 0 < len(text) <= _MAX_NAME and text.isprintable()


def _texts(tree: Expr, jobs: Table, env: Environment) -> TextColumn:
    return TextColumn.of(evaluate_table(tree, jobs, env=env))


def _attribute(name: str) -> Expr:
    """The reference to a tag; a name that is no identifier is quoted, as ClassAds do."""
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return bind(parse(f"MY.'{quoted}'"))
