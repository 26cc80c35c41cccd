"""The records of placement rules: the application, the configured rule, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Self

import attrs

from negotiator.queues.model import read_only_texts
from negotiator.queues.names import is_qualified, without_dots
from negotiator.records import Source

_NO_TAGS: Mapping[str, str] = MappingProxyType({})


@attrs.frozen
class Application:
    """An application, as placement rules see it; one record serves all applications that are equal in it.

    ``tags`` has the tags that the rules of the bundle declare and the application has, by name in lower case. ``forced``
    applications go to the recovery queue if no rule places them.
    """

    user: str
    groups: tuple[str, ...] = ()
    queue: str = ""  # as requested, empty for none
    tags: Mapping[str, str] = attrs.field(default=_NO_TAGS, converter=read_only_texts)
    forced: bool = False


@attrs.frozen
class PlacedApplication:
    """An application with its queue; one record serves all applications of a user with the same groups in that queue.

    ``groups`` are those of the user, the primary one first; ``queue`` is the full path, in lower case. ``group`` is the
    one that the application counts for now, empty for none; None for a new application.
    """

    user: str
    groups: tuple[str, ...]
    queue: str
    group: str | None = None


@attrs.frozen
class QueueTarget:
    """The queue that a rule returns: a path below the parent rule's queue, or, if ``qualified``, from the root.

    Dots in ``path`` separate levels. The parent rule is not called for a qualified path.
    """

    path: str
    qualified: bool = False

    @classmethod
    def child(cls, name: str) -> Self:
        """Return a queue of this name; dots in it become ``_dot_``."""
        return cls(without_dots(name))

    @classmethod
    def given(cls, text: str) -> Self:
        """Return the queue that a user requests: a path from the root unchanged, anything else as one name."""
        return cls(text, qualified=True) if is_qualified(text) else cls.child(text)


@attrs.frozen
class ConfiguredRule:
    """A rule as ``queues.yaml`` configures it.

    ``value`` is empty if missing. ``lets_through`` is called with a group: True if the rule's filter accepts it.
    """

    name: str
    value: str
    create: bool
    lets_through: Callable[[str], bool]
    source: Source


def _no_names(_: str) -> Iterable[str]:
    return ()


@attrs.frozen(kw_only=True)
class PlacementRule:
    """A type of placement rules, for ``name:`` in ``placementrules:``; upper and lower case do not differ.

    ``target`` is called once for equal applications. It returns None if the rule has no queue for them; ``absent`` is the
    reason that people see. ``needs_value`` refuses a rule without ``value:``; with ``takes_value`` false, a value has no
    effect, and ``check`` says so. ``fixed`` declares that the target is the same for every application: it is checked against the queues when the bundle is loaded. ``tags`` is called with the value of
    a rule and returns the names of the tags that it reads; tags are attributes of the job's ad.
    """

    name: str
    target: Callable[[Application, ConfiguredRule], QueueTarget | None]
    absent: str = "the application has no queue for it"
    needs_value: bool = False
    takes_value: bool = True
    fixed: bool = False
    tags: Callable[[str], Iterable[str]] = _no_names
