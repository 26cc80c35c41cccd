"""What a plugin that brings placement rules works with: the application, the rule as it is configured, its answer."""

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
    """What placement rules may know of an application: it stands for all that are alike in it.

    ``tags`` has their names in lower case: those that the rules of the bundle say they read, where the application
    has them. ``forced`` applications go to the recovery queue where no rule places them.
    """

    user: str
    groups: tuple[str, ...] = ()
    queue: str = ""  # as it was asked for, empty where none was
    tags: Mapping[str, str] = attrs.field(default=_NO_TAGS, converter=read_only_texts)
    forced: bool = False


@attrs.frozen
class PlacedApplication:
    """An application with its queue: it stands for all of one user, in the same groups, in that queue.

    ``groups`` are those of the user, the primary one first; ``queue`` is the full path, in lower case.
    """

    user: str
    groups: tuple[str, ...]
    queue: str


@attrs.frozen
class QueueTarget:
    """The queue that a rule gives: a path below the parent rule's queue, or one that begins at the root.

    The dots of ``path`` separate levels. Where it is ``qualified`` the parent rule is not asked.
    """

    path: str
    qualified: bool = False

    @classmethod
    def child(cls, name: str) -> Self:
        """One queue of this name; dots in it become ``_dot_``."""
        return cls(without_dots(name))

    @classmethod
    def given(cls, text: str) -> Self:
        """What a user may give: a path that begins at the root is taken as it is, anything else is one name."""
        return cls(text, qualified=True) if is_qualified(text) else cls.child(text)


@attrs.frozen
class ConfiguredRule:
    """A rule as it stands in ``queues.yaml``.

    ``value`` is empty where there is none. ``lets_through`` says whether the rule's filter takes a group.
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
    """A type of placement rules: what ``name:`` in ``placementrules:`` may say, in any case.

    ``target`` is called once for each kind of applications; None says that the rule has nothing for it, and ``absent``
    tells people why. ``needs_value`` refuses a rule without ``value:``. ``fixed`` says that the target is the same for
    every application, so that it is checked against the queues when the bundle is loaded. ``tags`` gives the names of
    the tags that a rule of that value reads: tags are attributes of the job's ad.
    """

    name: str
    target: Callable[[Application, ConfiguredRule], QueueTarget | None]
    absent: str = "the application has no queue for it"
    needs_value: bool = False
    fixed: bool = False
    tags: Callable[[str], Iterable[str]] = _no_names
