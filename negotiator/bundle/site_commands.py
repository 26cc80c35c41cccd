"""The commands of the site that a bundle names: to kill an application, and to notify people of draining queues."""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs

#: An address, without what would end it or begin another header.
ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9][A-Za-z0-9.-]*", re.ASCII)


_MOST_SECONDS = 600


def _program(_instance: object, field: attrs.Attribute[tuple[str, ...]], words: tuple[str, ...]) -> None:
    if words and not words[0].startswith("/"):
        raise ValueError(
            f"{field.name}: write the full path of the program, and its arguments: [/usr/bin/x, -y]"
        )


def _deadline(_instance: object, field: attrs.Attribute[float], seconds: float) -> None:
    if not 0 < seconds <= _MOST_SECONDS:
        raise ValueError(f"{field.name}: expected more than 0, and at most {_MOST_SECONDS}")


def _matches(pattern: re.Pattern[str], what: str) -> Callable[[object, attrs.Attribute[str], str], None]:
    def check(_instance: object, field: attrs.Attribute[str], text: str) -> None:
        if text and pattern.fullmatch(text) is None:
            raise ValueError(f"{field.name}: expected {what}")

    return check


@attrs.frozen
class KillSettings:
    """The ``kill:`` part of ``pool.yaml``: the command that ends the jobs of an application.

    ``{schedd}`` and ``{cluster}`` in its words are replaced. It is ended after ``seconds``.
    """

    command: tuple[str, ...] = attrs.field(default=(), validator=_program)
    seconds: float = attrs.field(default=10.0, validator=_deadline)


@attrs.frozen
class NotifySettings:
    """The ``notify:`` part of ``pool.yaml``: who is notified that a queue drains, and how.

    ``command`` reads a JSON object. ``address`` gets a mail; with ``domain``, so do the users with applications in the
    queue and its administrators. ``sendmail`` reads the mail. Each is ended after ``seconds``.
    """

    command: tuple[str, ...] = attrs.field(default=(), validator=_program)
    address: str = attrs.field(default="", validator=_matches(ADDRESS, "an address such as ops@example.org"))
    domain: str = attrs.field(
        default="", validator=_matches(re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*", re.ASCII), "a domain")
    )
    sendmail: tuple[str, ...] = attrs.field(default=("/usr/sbin/sendmail", "-t", "-i"), validator=_program)
    seconds: float = attrs.field(default=10.0, validator=_deadline)


@attrs.frozen
class SiteCommands:
    """All commands of the site."""

    kill: KillSettings = attrs.field(factory=KillSettings)
    notify: NotifySettings = attrs.field(factory=NotifySettings)
