"""The program's interface for commands of plugins: the caller, the bundle, changes of it, and the usage of quotas.

The program puts a ``CommandContext`` into click's context, so that ``@click.pass_obj`` passes it to the command;
``@target_options`` passes the folders and files to work on as one ``CommandTargets``. No method of a ``CommandContext``
prints anything, and none ends the program.

Example::

    @click.command()
    @target_options
    @click.pass_obj
    def calendar(program: CommandContext, targets: CommandTargets) -> None:
        for name in program.bundle(targets).settings("calendar").files:
            click.echo(name)
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from negotiator.errors import CommandError, NegotiatorError
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Problem

if TYPE_CHECKING:
    from negotiator.classad import Table
    from negotiator.hooks.charges import CounterUsage
    from negotiator.hooks.order import OrderRows
    from negotiator.queues import QueueTree


@attrs.frozen
class Caller:
    """Who runs a command: the real user of the process and its groups, the primary one first."""

    name: str
    groups: tuple[str, ...] = ()


@attrs.frozen(eq=False)
class LoadedBundle:
    """A policy bundle without errors.

    ``problems`` are its warnings and notices. ``digest`` is the one that audit records name.
    """

    folder: Path
    digest: str
    problems: tuple[Problem, ...]
    all_settings: Mapping[str, Any]

    def settings(self, plugin: str) -> Any:
        """Return the part of the bundle that a plugin owns: an instance of its ``Section.schema``.

        :raises CommandError: the plugin is disabled in this bundle, or owns no part of it.
        """
        if plugin not in self.all_settings:
            raise CommandError(
                f"{self.folder}: the bundle has no settings of plugin {plugin}: is it disabled?"
            )
        return self.all_settings[plugin]


@attrs.frozen
class Permission:
    """Whether the caller may configure the scheduler: the reason, and the ``rule`` of the access policy."""

    allowed: bool
    text: str
    rule: str = ""


class ChangeStatus(enum.StrEnum):
    """The result of a change: made; denied; or permitted, but the bundle would have errors."""

    DONE = "done"
    DENIED = "denied"
    INVALID = "invalid"


@attrs.frozen(kw_only=True)
class ChangeOutcome:
    """The outcome of a change of a file of the bundle.

    ``problems`` are those of the changed bundle; if the present bundle has errors that the caller may not correct, they
    are those of the present one. ``backups`` are the copies of the old files. ``recorded`` is True if the audit log has a
    record of the change, or of the denied attempt. Otherwise the record waits in the state for the running negotiator
    (``error`` is None), or ``error`` is the reason why it could not be recorded. ``exit_code`` is the one that
    ``negotiator admin change`` ends with. ``request`` is the number of the request in the state.
    """

    status: ChangeStatus
    text: str
    rule: str = ""
    problems: tuple[Problem, ...] = ()
    digest: str = ""  # of the changed bundle
    backups: tuple[Path, ...] = ()
    recorded: bool = False
    error: NegotiatorError | None = None
    exit_code: int = ExitCode.DONE
    request: int = 0


@attrs.frozen(eq=False)
class PluginUsage:
    """The usage of a plugin's quotas: its enforcing counters, the slots of the pool, and the queues.

    ``failures`` are the parts that could not be counted, with the reasons; ``problems`` are those of the ads of the pool.
    """

    counters: CounterUsage
    slots: Table
    queues: QueueTree
    failures: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@attrs.frozen
class StoredRows:
    """The rows that an order remembers, by key; ``damaged`` are sentences on those that cannot be read."""

    rows: OrderRows
    damaged: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class StoredMatch:
    """A match of an earlier cycle whose claim has not ended, as of the last cycle.

    ``at`` is its time in seconds since the epoch. ``shown``: the pool has shown the claim. ``is_copy``: the ad of the request
    stood for several jobs, so that ``job`` (``cluster.proc``) may not be the one that runs.
    """

    submitter: str
    schedd: str
    job: str
    slot: str
    at: float
    shown: bool = False
    is_copy: bool = False


@attrs.frozen
class StoredMatches:
    """The matches of the state, in their order; ``damaged`` are sentences on what cannot be read of the state."""

    matches: tuple[StoredMatch, ...]
    damaged: tuple[str, ...] = ()


@attrs.frozen
class RowsOutcome:
    """The outcome of a request to change what an order remembers.

    ``ok`` is True if it was done, False if it was denied or refused, and None if the running negotiator has not answered
    yet: then the request stays in the state. ``exit_code`` is the one that ``negotiator admin`` ends with. ``problems``
    are those of the bundle, if it was loaded.
    """

    ok: bool | None
    text: str
    exit_code: int = ExitCode.DONE
    problems: tuple[Problem, ...] = ()


class CommandContext(Protocol):
    """The program, as the command of a plugin uses it.

    Each method reads the files anew, and may raise ``NegotiatorError``. A command may let it through: the program prints
    the message and ends with the exit code of the class.
    """

    def caller(self) -> Caller:
        """Return who runs the command, according to the operating system; no option or variable changes it."""

    def bundle(self, targets: CommandTargets) -> LoadedBundle:
        """Load the policy bundle.

        :raises BundleError: it has errors.
        """

    def bundle_folder(self, targets: CommandTargets) -> Path:
        """Return the folder of the policy bundle, which is not loaded: it may be missing or have errors.

        :raises StateError: the state that the bundle belongs to cannot be read.
        """

    def may_configure(self, targets: CommandTargets) -> Permission:
        """Ask the access policy whether the caller may change the bundle. Nothing is recorded.

        The policy is that of the bundle as written: ``plugins_dirs`` and ``disable`` of the targets are ignored.

        If the bundle has errors, it has no policy. Then the owner of the negotiator's state (without state, the owner of
        the bundle) may change it, provided that the policy of the changed bundle permits it.

        :raises InvalidCallError: no bundle is named.
        """

    def change(
        self,
        targets: CommandTargets,
        name: str,
        content: bytes,
        note: str = "",
        superseded: Sequence[str] = (),
    ) -> ChangeOutcome:
        """Replace the contents of a file at the top of the bundle, unless the changed bundle has errors.

        The old contents are saved beside it as ``NAME.TIME~``. A running negotiator is notified, and loads the new bundle
        before its next cycle. Permission is checked as in ``may_configure``; a denied attempt is recorded too.

        :param name: a file that a plugin or the core reads as settings, or any existing file.
        :param note: the reason, up to 500 characters, for the audit log.
        :param superseded: files at the top of the bundle that are removed once the file is written; they are saved too.
        :return: the outcome; nothing was written unless its status is ``ChangeStatus.DONE``.
        :raises InvalidCallError: the name is not that of a file of a bundle, no bundle is named, or the note is too long.
        :raises StateError: the state cannot be opened, so the change could not be recorded: nothing was written.
        :raises CommandError: the file cannot be written; nothing was.
        """

    def order_rows(self, targets: CommandTargets, order: str) -> StoredRows:
        """Read the rows that an order remembers, as of the last cycle or change.

        :raises StateError: the folder has no state, or it cannot be read.
        """

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
        """Request a change of the rows of an order; the plugin that brings the order carries it out.

        A running negotiator does so between two cycles; without one it is done here, provided that the state belongs to
        the caller. Permission is checked as in ``may_configure``. The request is in the audit log, a denied one too; the
        rows and the answer are written in one transaction.

        :param change: any text, for the ``change`` of the ``RequestOrderType``; the audit log has its beginning.
        :param note: the reason, up to 500 characters, for the audit log.
        :param wait: seconds to wait for the answer of a running negotiator.
        :param make_state: make the state if the folder has none, to begin with these rows.
        :raises InvalidCallError: the note or the change is too long.
        :raises StateError: the folder has no state, or it cannot be read or written.
        :raises BundleError: no negotiator is running, and the bundle has errors.
        """

    def stored_matches(self, targets: CommandTargets) -> StoredMatches:
        """Read the matches of earlier cycles whose claims have not ended, as of the last cycle.

        :raises StateError: the folder has no state, or it cannot be read.
        """

    def plugin_usage(self, targets: CommandTargets, plugin: str) -> PluginUsage:
        """Count the usage of a plugin's quotas in the pool, and, with a state, by matches not yet visible in the pool.

        :raises BundleError: the bundle has errors.
        :raises InvalidCallError: no pool is named.
        :raises PoolError: the pool cannot be read.
        :raises StateError: the state cannot be read.
        """
