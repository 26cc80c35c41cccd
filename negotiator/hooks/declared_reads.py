"""What a plugin may read of jobs: the attributes that it declared, and those that their expressions refer to.

Jobs that are equal in all significant attributes are one request, and its ad has no others. An attribute that a plugin reads
without declaring it would be missing there, unless another plugin or an expression happens to make it significant: a policy
would be void without a word. So the ads that a plugin sees are limited to what it declared itself, and reading another
attribute is an error, also if the plugin catches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import attrs

from negotiator.classad.syntax import (
    PREDEFINED_NAMES,
    Expr,
    Literal,
    ReadLimit,
    Side,
    UnreadableNameError,
    scan,
)
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.plugin_output import inside_plugin

if TYPE_CHECKING:
    from negotiator.classad import Ad, Table
    from negotiator.classad.syntax import ReferenceScan

_MOST_SCANS: Final = 4096
#: Evaluation looks these up in every ad; jobs that have such attributes are never alike.
_SCOPES: Final = PREDEFINED_NAMES | {"currenttime"}


class UndeclaredReadError(UnreadableNameError):
    """A plugin read an attribute of jobs that it did not declare."""

    def __init__(self, name: str, plugin: str, hook: str) -> None:
        super().__init__(
            f'the job attribute "{name}" is read, but plugin {plugin} does not declare it: add "{name}" to {hook}'
        )
        self.name, self.plugin, self.hook = name, plugin, hook

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        """Pickle the arguments: a plugin may run in a worker process."""
        return type(self), (self.name, self.plugin, self.hook)

    def respelled(self, name: str) -> UndeclaredReadError:
        """Return the same error with the name as the plugin spells it."""
        return _Refusal(self.plugin, self.hook)(name)


@attrs.frozen
class _Refusal:
    """Makes the error, and leaves it with the call that runs: its answer is not used, whatever catches the error."""

    plugin: str
    hook: str

    def __call__(self, name: str) -> UndeclaredReadError:
        error = UndeclaredReadError(name, self.plugin, self.hook)
        call = inside_plugin.get()
        if call is not None:
            call.undeclared = error
        return error


@attrs.define(eq=False)
class DeclaredReads:
    """The attributes of jobs that one plugin declared in one hook, in lower case."""

    plugin: str
    hook: str  # that declares them
    names: frozenset[str]
    _limits: dict[frozenset[str], ReadLimit] = attrs.field(factory=dict, init=False)
    _last: tuple[Ad, Ad] | None = attrs.field(default=None, init=False)

    def ad(self, ad: Ad) -> Ad:
        """Return the ad of a request as the plugin may read it."""
        last = self._last  # the hooks of a plugin are called one after the other for each request
        if last is None or last[0] is not ad:
            self._last = last = ad, self._limited_ad(ad)
        return last[1]

    def arguments(self, taken: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call with the table of jobs that gates get as the plugin may read it."""
        if taken.get("kind", AdKind.JOB) is AdKind.JOB and "ads" in taken:
            return {**taken, "ads": self._limited_table(taken["ads"])}
        return taken

    def of_job(self, ad: Ad) -> frozenset[str] | None:
        """Return the attributes that the plugin can read of one job; None if it may be any."""

        def scans(name: str) -> Iterable[ReferenceScan]:
            expr = ad.folded(name)
            return () if expr is None or type(expr) is Literal else (_scan(expr),)

        return self._reached(scans)

    def _limited_ad(self, ad: Ad) -> Ad:
        found = self.of_job(ad)
        return ad if found is None else ad.limited(self._limit(found))

    def _limited_table(self, table: Table) -> Table:
        found = self._reached(table.scans)
        return table if found is None else table.limited(self._limit(found))

    def _reached(self, scans: Callable[[str], Iterable[ReferenceScan]]) -> frozenset[str] | None:
        """Return the declared names with those that their expressions refer to; None if they may refer to any.

        An expression that refers to the slot may come back to the job through the slot's own expressions.
        """
        found, waiting = set(self.names), list(self.names)
        while waiting:
            for each in scans(waiting.pop()):
                if each.opaque or each.moves_scope or each.names[Side.TARGET]:
                    return None
                fresh = (each.names[Side.MY].keys() | each.names[None].keys()) - found
                found |= fresh
                waiting += fresh
        return frozenset(found)

    def _limit(self, names: frozenset[str]) -> ReadLimit:
        limit = self._limits.get(names)
        if limit is None:
            if len(self._limits) > _MOST_SCANS:
                self._limits.clear()
            limit = self._limits[names] = ReadLimit(names | _SCOPES, _Refusal(self.plugin, self.hook))
        return limit


_scans: dict[int, tuple[Expr, ReferenceScan]] = {}


def _scan(expr: Expr) -> ReferenceScan:
    """Return the references of an expression, which jobs share; the entry holds the tree, so that its id stays its own."""
    known = _scans.get(id(expr))
    if known is None:
        if len(_scans) > _MOST_SCANS:
            _scans.clear()
        known = _scans[id(expr)] = expr, scan(expr)
    return known[1]
