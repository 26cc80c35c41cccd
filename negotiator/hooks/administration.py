"""What a command that a plugin brings may ask of the program: who calls, what the bundle says, changes of it, what is used.

The program puts a ``CommandContext`` into click's context, so that ``@click.pass_obj`` gives it to the command; where to work,
``@site_options`` gives as ``CommandTargets``. No method of a site prints anything, and none ends the program.

Example::

    @click.command()
    @site_options
    @click.pass_obj
    def calendar(site: Site, places: Places) -> None:
        for name in site.bundle(places).settings("calendar").files:
            click.echo(name)
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar, Protocol

import attrs
import click

from negotiator.classad import Table
from negotiator.hooks.charges import CounterUsage
from negotiator.queues import QueueTree
from negotiator.records import Problem, Severity
from negotiator.records.text import printable

#: How the commands of the program end, beside 0 for what was done.
NOT_DONE, WRONG_CALL, NO_AUDIT, NO_POOL, NO_STATE = 1, 2, 3, 4, 6


class CommandError(click.ClickException):
    """What was asked for can't be had: why, and what to do about it.

    A command may let it through: the message is printed, and the program ends with ``exit_code``, as its own commands
    do. That is 1 where no class below says else: a file of the bundle can't be written, say.
    """

    exit_code: ClassVar[int] = NOT_DONE

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, to standard error unless a file is given."""
        click.echo(f"error: {printable(self.message)}", file=file, err=file is None)


class BrokenBundleError(CommandError):
    """A bundle that has errors; ``problems`` are all of its errors, warnings and notices."""

    def __init__(self, folder: Path, problems: Iterable[Problem]) -> None:
        super().__init__(f"{folder} has errors (see negotiator check)")
        self.problems = tuple(problems)

    def show(self, file: IO[Any] | None = None) -> None:
        """Print each error, a line each, and the message."""
        for problem in self.problems:
            if problem.severity is Severity.ERROR:
                click.echo(printable(str(problem)), file=file, err=file is None)
        super().show(file)


class InvalidCallError(CommandError):
    """What was asked for can't be meant: no bundle or pool is named, or a name is none of a file of a bundle."""

    exit_code = WRONG_CALL


class NoPoolError(CommandError):
    """The pool can't be read."""

    exit_code = NO_POOL


class NoStateError(CommandError):
    """The negotiator's state can't be read or written."""

    exit_code = NO_STATE


@attrs.frozen
class Caller:
    """Who runs a command: the real user of the process and its groups, the primary one first."""

    name: str
    groups: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class CommandTargets:
    """Where a command works, as its options or the environment say.

    ``bundle`` is the folder of the policy bundle, None for the built-in one. ``state`` is the folder of the negotiator's
    state: where it is None, changes are noted in ``var/state``, and only what the pool shows is counted. ``pool`` are
    folders and files of ads. ``now`` is in seconds since the epoch, None for the time that it is.
    """

    bundle: Path | None = None
    plugins_dirs: tuple[Path, ...] = ()
    disable: tuple[str, ...] = ()
    state: Path | None = None
    audit_log: Path = Path("var/audit")
    key_file: Path | None = None
    pool: tuple[Path, ...] = ()
    now: float | None = None


@attrs.frozen(eq=False)
class LoadedBundle:
    """A policy bundle without errors, as a command sees it.

    ``problems`` are its warnings and notices. ``digest`` is that of the audit log's records.
    """

    folder: Path
    digest: str
    problems: tuple[Problem, ...]
    all_settings: Mapping[str, Any]

    def settings(self, plugin: str) -> Any:
        """The part of the bundle that a plugin owns: an instance of its ``Section.schema``.

        :raises SiteError: the plugin is disabled in this bundle, or owns no part of it.
        """
        if plugin not in self.all_settings:
            raise CommandError(f"{self.folder}: the bundle has no part of plugin {plugin}: is it disabled?")
        return self.all_settings[plugin]


@attrs.frozen
class Permission:
    """Whether the caller may configure the scheduler: why, and by which ``rule`` of the access policy."""

    allowed: bool
    text: str
    rule: str = ""


class ChangeStatus(enum.StrEnum):
    """What became of a change: made; not allowed; or allowed, but the bundle would have had errors."""

    DONE = "done"
    DENIED = "denied"
    INVALID = "invalid"


@attrs.frozen(kw_only=True)
class ChangeOutcome:
    """What became of a change of a file of the bundle.

    ``problems`` are those of the bundle with the change; of the bundle that is there, where it has errors and the caller
    may not mend it. ``kept`` are the copies of the old files. A change that was made, and an attempt that was denied,
    is ``recorded``: it stands in the audit log. Where it does not, it waits in the state for the negotiator that is
    running (``trouble`` is empty), or ``trouble`` says why it could not be recorded. ``exit_code`` is what the
    program's own command ends with. ``request`` is the number of what waits or waited in the state.
    """

    result: ChangeStatus
    text: str
    rule: str = ""
    problems: tuple[Problem, ...] = ()
    digest: str = ""  # of the bundle with the change
    kept: tuple[Path, ...] = ()
    recorded: bool = False
    trouble: str = ""
    exit_code: int = 0
    request: int = 0


@attrs.frozen(eq=False)
class PluginUsage:
    """What is used of a plugin's quotas: its enforcing counters, the slots of the pool, and the queues.

    ``failures`` say what could not be counted, and why; ``problems`` what is wrong with ads of the pool.
    """

    used: CounterUsage
    slots: Table
    queues: QueueTree
    failures: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class CommandContext(Protocol):
    """The program, to a command that a plugin brings.

    Each method looks at the files anew. Every one may raise ``CommandError``, which a command may let through.
    """

    def caller(self) -> Caller:
        """Tell who runs the command, as the system says: neither options nor the environment change it."""

    def bundle(self, places: CommandTargets) -> LoadedBundle:
        """Load the policy bundle.

        :raises BrokenBundleError: it has errors.
        """

    def may_configure(self, places: CommandTargets) -> Permission:
        """Ask the access policy whether the caller may change the bundle. Nothing is recorded.

        The bundle is asked as it is written: plugins that the caller brings along or disables (``plugins_dirs`` and
        ``disable`` of the places) have no say.

        A bundle that has errors can't say: who owns the negotiator's state may mend it then, or, where there is none, who
        owns the bundle; if the bundle as it will be lets them.
        """

    def change(
        self,
        places: CommandTargets,
        name: str,
        content: bytes,
        note: str = "",
        superseded: Sequence[str] = (),
    ) -> ChangeOutcome:
        """Give a file at the top of the bundle other contents, if the bundle is without errors then.

        The old contents are kept beside it as ``NAME.TIME~``. A running negotiator is told, and takes the new bundle
        before its next cycle. Who may do it is looked at as ``may_configure`` does; a denied attempt is recorded too.

        :param name: a file that a plugin or the core reads as settings, or any file that is there.
        :param note: why, up to 500 characters; it stands in the audit log, with what was written.
        :param superseded: files at the top of the bundle that go once the file is written; they are kept like the old one.
        :return: what became of it; nothing was written unless it is ``ChangeStatus.DONE``.
        :raises WrongCallError: the name is none of a file of a bundle, no folder is named, or the note is too long.
        :raises NoStateError: the state can't be opened, so that the change could not be recorded: nothing was written.
        :raises SiteError: the file can't be written: nothing was.
        """

    def used(self, places: CommandTargets, plugin: str) -> PluginUsage:
        """Count what is used of a plugin's quotas in the pool, and, with a state, of matches that it does not show yet.

        :raises BrokenBundleError: the bundle has errors.
        :raises WrongCallError: no pool is named.
        :raises NoPoolError: the pool can't be read.
        :raises NoStateError: the state can't be read.
        """
