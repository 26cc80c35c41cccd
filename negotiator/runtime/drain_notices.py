"""Notifies the users of a draining queue and its administrators, once for each drain, beside the cycles.

Source: "Scheduler Configuration", Configuration updates. A command of the site gets a JSON object, an address a mail. The
commands run one queue after the other, and no cycle waits for them. A drain counts as notified once its commands are
started: one that fails is reported, and not repeated.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.message import EmailMessage

import attrs

from negotiator.bundle.site_commands import ADDRESS, NotifySettings
from negotiator.hooks.access import QueueNotice
from negotiator.records.text import printable
from negotiator.runtime.site_command import SiteCommand
from negotiator.runtime.state_manager import StateManager

_MOST_AT_END = 60.0  # seconds for all commands when the program ends
_MOST_RECIPIENTS = 1_000


@attrs.frozen
class DrainNotified:
    """The end of one command about a queue; ``failure`` is empty if it did not fail."""

    notice: QueueNotice
    program: str
    failure: str

    def __str__(self) -> str:
        text = f"notified of draining {self.notice.queue}: {self.program}"
        return f"not {text}: {self.failure}" if self.failure else text


@attrs.define(eq=False)
class DrainNotifier:
    """The draining queues without a notice yet, and the commands that run."""

    _waiting: deque[str] = attrs.field(factory=deque)
    _running: list[tuple[QueueNotice, str, SiteCommand]] = attrs.field(factory=list)

    def find_draining(self, manager: StateManager) -> None:
        """Find the draining queues without a notice, after a cycle."""
        settings = manager.bundle.site_commands.notify
        enabled = settings.command or settings.address or settings.domain
        found = [queue.path for queue in manager.queues if queue.draining and not queue.notified]
        self._waiting = deque(found if enabled else ())

    def advance(self, manager: StateManager) -> Iterator[DrainNotified]:
        """Yield the commands that ended, and start those of the next queue; nothing waits.

        :raises StateError: the start can't be noted in the state: nobody is notified yet.
        """
        for notice, program, command in tuple(self._running):
            failure = command.ended()
            if failure is not None:
                self._running.remove((notice, program, command))
                yield DrainNotified(notice, program, failure)
        while self._waiting and not self._running:
            found = manager.drain_notice(self._waiting.popleft())
            if found is not None:
                manager.mark_notified(found.queue)
                settings = manager.bundle.site_commands.notify
                self._running += (
                    (found, words[0], SiteCommand.start(words, content, settings.seconds))
                    for words, content in _messages(found, settings)
                )

    def finish(self, manager: StateManager) -> Iterator[DrainNotified]:
        """Yield all commands, and wait for each, for at most a minute in all."""
        left = _MOST_AT_END
        while self._running or self._waiting:
            for notice, program, command in tuple(self._running):
                left -= command.seconds
                self._running.remove((notice, program, command))
                yield DrainNotified(notice, program, command.wait())
            if left <= 0:
                return  # the next process notifies of the others
            yield from self.advance(manager)


def _messages(notice: QueueNotice, settings: NotifySettings) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Yield the commands about a queue, each with what it reads."""
    if settings.command:
        content = {
            "event": "queue_draining",
            "queue": notice.queue,
            "since": datetime.fromtimestamp(notice.since, UTC).isoformat(),
            "users": list(notice.owners),
            "administrators": list(notice.administrators),
        }
        yield settings.command, json.dumps(content).encode()
    if settings.address or settings.domain:
        recipients = tuple(_recipients(notice, settings))
        if recipients:
            yield settings.sendmail, _mail(notice, recipients)


def _recipients(notice: QueueNotice, settings: NotifySettings) -> Iterable[str]:
    """Return the addresses; names come from ads and lists, and only those that are plain are used."""
    names = (*notice.administrators, *notice.owners) if settings.domain else ()
    written = (name if "@" in name[1:] else f"{name}@{settings.domain}" for name in names)
    found = dict.fromkeys((*filter(None, [settings.address]), *written))
    return [each for each in found if ADDRESS.fullmatch(each)][:_MOST_RECIPIENTS]


def _mail(notice: QueueNotice, recipients: tuple[str, ...]) -> bytes:
    mail = EmailMessage()
    mail["Subject"] = printable(f"queue {notice.queue} is draining")
    mail["To"] = "undisclosed-recipients:;"
    mail["Bcc"] = ", ".join(recipients)
    mail["Auto-Submitted"] = "auto-generated"
    since = datetime.fromtimestamp(notice.since, UTC).strftime("%Y-%m-%d %H:%M UTC")
    mail.set_content(
        f"The queue {printable(notice.queue)} was removed from the configuration and is draining since {since}:\n"
        "it takes no new application, and is removed when its last one ends.\n\n"
        "Administrators of the queue can move its applications: negotiator admin move APPLICATION QUEUE\n"
    )
    return mail.as_bytes()
