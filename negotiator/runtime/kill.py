"""Ends the jobs of an application by the command that the bundle names."""

from __future__ import annotations

import json
import re

import attrs

from negotiator.bundle.site_commands import KillSettings
from negotiator.queues.applications import RegisteredApplication
from negotiator.runtime.site_command import SiteCommand
from negotiator.runtime.state import AdminAnswer, AdminRequest

#: A name that means nothing else in an argument, nor in an expression. It comes from ads.
_SCHEDD = re.compile(r"[a-z0-9_][a-z0-9_.@:-]*", re.ASCII)

NOT_CONFIGURED = (
    "applications of this pool can't be killed: no command is configured (kill: command: in pool.yaml); "
    "hold it to keep further jobs from starting"
)


@attrs.frozen
class Kill:
    """A permitted kill of the applications of a cluster, to be carried out once it is recorded."""

    name: str
    words: tuple[str, ...]
    content: bytes
    seconds: float

    def run(self) -> AdminAnswer:
        """Run the command, and wait for it until its deadline."""
        failure = SiteCommand.start(self.words, self.content, self.seconds).wait()
        if failure:
            return AdminAnswer(
                ok=False, text=f"{self.name} was perhaps not killed: {self.words[0]}: {failure}"
            )
        return AdminAnswer(ok=True, text=f"{self.name} is killed")


def plan_kill(
    request: AdminRequest, found: tuple[RegisteredApplication, ...], settings: KillSettings
) -> Kill | AdminAnswer:
    """Return the command for a cluster with all of its applications, or the reason why there is none."""
    if not settings.command:
        return AdminAnswer(ok=False, text=NOT_CONFIGURED)
    schedd, cluster = found[0].id.schedd, str(found[0].id.cluster)
    words = tuple(
        word.replace("{schedd}", schedd).replace("{cluster}", cluster) for word in settings.command[1:]
    )
    if _SCHEDD.fullmatch(schedd) is None and any("{schedd}" in word for word in settings.command):
        return AdminAnswer(
            ok=False, text=f"{found[0].id} can't be killed: the name of its schedd is missing or unusual"
        )
    content = {
        "action": "kill",
        "application": str(found[0].id),
        "schedd": schedd,
        "cluster": found[0].id.cluster,
        "users": sorted(entry.id.user for entry in found),
        "requested_by": request.by,
        "note": request.note,
    }
    return Kill(
        str(found[0].id), (settings.command[0], *words), json.dumps(content).encode(), settings.seconds
    )
