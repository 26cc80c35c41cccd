"""The program as the commands of plugins use it (``negotiator.hooks.administration``), and the user who runs a command.

The user is who the system says, not the environment.
"""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from negotiator import posix
from negotiator.hooks.administration import (
    Caller,
    ChangeOutcome,
    CommandContext,
    LoadedBundle,
    Permission,
    PluginUsage,
    RowsOutcome,
    StoredMatches,
    StoredRows,
)
from negotiator.hooks.command_targets import CommandTargets


def caller() -> tuple[str, tuple[str, ...]]:
    """Return the name and the groups of the process's real user, the primary group first; on Windows no group is known."""
    if not posix.HAS_OWNERS:
        return getpass.getuser(), ()
    import pwd

    uid, gid = os.getuid(), os.getgid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid), ()
    return name, tuple(filter(None, map(_group, dict.fromkeys(os.getgrouplist(name, gid)))))


def _group(gid: int) -> str:
    import grp

    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return ""


@attrs.frozen
class ProgramContext:
    """The context of a command; ``who`` returns the caller's name and groups, by default those of the process."""

    who: Callable[[], tuple[str, tuple[str, ...]]] = caller

    def caller(self) -> Caller:
        """See ``CommandContext.caller``."""
        return Caller(*self.who())

    def bundle(self, targets: CommandTargets) -> LoadedBundle:
        """See ``CommandContext.bundle``."""
        from negotiator.app.targets import load

        bundle = load(targets)
        return LoadedBundle(bundle.folder, bundle.digest, bundle.problems, bundle.settings)

    def bundle_folder(self, targets: CommandTargets) -> Path:
        """See ``CommandContext.bundle_folder``."""
        from negotiator.app.targets import bundle_folder

        return bundle_folder(targets)

    def may_configure(self, targets: CommandTargets) -> Permission:
        """See ``CommandContext.may_configure``."""
        from negotiator.app import change

        return change.may_configure(targets, self.caller())

    def change(
        self,
        targets: CommandTargets,
        name: str,
        content: bytes,
        note: str = "",
        superseded: Sequence[str] = (),
    ) -> ChangeOutcome:
        """See ``CommandContext.change``."""
        from negotiator.app import change

        return change.change_bundle(targets, self.caller(), name, content, note, superseded)

    def order_rows(self, targets: CommandTargets, order: str) -> StoredRows:
        """See ``CommandContext.order_rows``."""
        from negotiator.app import order_rows

        return order_rows.read_rows(targets, order)

    def change_order(
        self,
        targets: CommandTargets,
        order: str,
        change: str,
        note: str = "",
        wait: float = 30.0,
        *,
        make_state: bool = False,
    ) -> RowsOutcome:
        """See ``CommandContext.change_order``."""
        from negotiator.app import order_rows

        return order_rows.change_rows(
            *(targets, self.caller(), order, change, note, wait), make_state=make_state
        )

    def stored_matches(self, targets: CommandTargets) -> StoredMatches:
        """See ``CommandContext.stored_matches``."""
        from negotiator.app.stored_matches import read_matches

        return read_matches(targets)

    def plugin_usage(self, targets: CommandTargets, plugin: str) -> PluginUsage:
        """See ``CommandContext.plugin_usage``."""
        from negotiator.app.pool_view import PoolView, require_pool

        require_pool(targets)
        view = PoolView.load(targets, sys.stdin.buffer if sys.stdin else None)
        usage, snapshot = view.usage, view.snapshot
        failures = tuple(map(str, usage.failures))
        return PluginUsage(usage.of(plugin), snapshot.slots, usage.queues, failures, snapshot.problems)


#: Lets mypy check that the program offers what plugins are promised.
_checked: type[CommandContext] = ProgramContext
