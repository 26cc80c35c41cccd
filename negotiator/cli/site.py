"""The program, as commands of plugins see it: see ``negotiator.hooks.administration``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import attrs
import click

from negotiator.bundle import Bundle, default_bundle, examine_bundle
from negotiator.cli.caller import caller
from negotiator.cli.pools import read_paths
from negotiator.cli.problems import print_problems
from negotiator.cli.subjects import read_state_manager
from negotiator.hooks.administration import (
    BrokenBundleError,
    Caller,
    ChangeOutcome,
    CommandContext,
    CommandError,
    CommandTargets,
    InvalidCallError,
    LoadedBundle,
    NoPoolError,
    NoStateError,
    Permission,
    PluginUsage,
)
from negotiator.pool import PoolError
from negotiator.runtime import bundle_editor
from negotiator.runtime.change_file import ChangeError
from negotiator.runtime.state import StateError
from negotiator.runtime.usage import pool_usage

DEFAULT_STATE = Path("var/state")
LONGEST_NOTE = 500  # characters, as the audit log has them
_BUILT_IN = "say which bundle: --bundle FOLDER (the built-in one can't be changed)"


class _BrokenBundleError(BrokenBundleError):
    def __init__(self, folder: Path, problems: Sequence[Any]) -> None:
        super().__init__(folder, problems)
        self.folder = folder

    def show(self, file: IO[Any] | None = None) -> None:
        """As the program's own commands tell it: with the lines that the problems stand in."""
        print_problems(self.problems, folder=self.folder, err=True)
        CommandError.show(self, file)


@attrs.frozen
class ProgramSite:
    """The site of a command that is run: ``who`` says who calls, by default the system."""

    who: Callable[[], tuple[str, tuple[str, ...]]] = caller

    def caller(self) -> Caller:
        """As ``CommandContext.caller``."""
        return Caller(*self.who())

    def bundle(self, places: CommandTargets) -> LoadedBundle:
        """As ``CommandContext.bundle``."""
        bundle = _loaded(places)
        return LoadedBundle(bundle.folder, bundle.digest, bundle.problems, bundle.settings)

    def may_configure(self, places: CommandTargets) -> Permission:
        """As ``CommandContext.may_configure``."""
        return bundle_editor.may_configure(office(places), self.caller())

    def change(
        self,
        places: CommandTargets,
        name: str,
        content: bytes,
        note: str = "",
        superseded: Sequence[str] = (),
    ) -> ChangeOutcome:
        """As ``CommandContext.change``."""
        if len(note) > LONGEST_NOTE:
            raise InvalidCallError(f"the note has {len(note)} characters: {LONGEST_NOTE} at most")
        try:
            return bundle_editor.change(office(places), self.caller(), name, content, note, superseded)
        except bundle_editor.FileNameError as error:
            raise InvalidCallError(str(error)) from None
        except ChangeError as error:
            raise CommandError(str(error)) from None
        except StateError as error:
            raise NoStateError(f"{error}: nothing was changed") from None

    def used(self, places: CommandTargets, plugin: str) -> PluginUsage:
        """As ``CommandContext.used``."""
        if not places.pool:
            raise InvalidCallError("say which pool: --pool PATH, or NEGOTIATOR_POOL in the environment")
        bundle = _loaded(places)
        now = time.time() if places.now is None else places.now
        try:
            snapshot = read_paths(places.pool)
            state, unknown = read_state_manager(places.state, bundle, now).cycle_state(snapshot, now)
        except PoolError as error:
            raise NoPoolError(str(error)) from None
        except StateError as error:
            raise NoStateError(str(error)) from None
        found = pool_usage(snapshot, bundle, state, now)
        failures = tuple(map(str, (*unknown, *found.failures)))
        return PluginUsage(found.of(plugin), snapshot.slots, found.queues, failures, snapshot.problems)


def office(places: CommandTargets) -> bundle_editor.BundleEditor:
    """Where the bundle of a command is changed.

    :raises WrongCallError: it is the built-in one.
    """
    if places.bundle is None:
        raise InvalidCallError(_BUILT_IN)
    examine = partial(
        examine_bundle, places.bundle, extra_folders=places.plugins_dirs, disable=places.disable
    )
    as_written = partial(examine_bundle, places.bundle)
    is_other = places.plugins_dirs or places.disable
    return bundle_editor.BundleEditor(
        folder=places.bundle,
        examine=lambda replaced=None: examine(replaced=replaced),
        as_written=(lambda replaced=None: as_written(replaced=replaced)) if is_other else None,
        state=places.state or DEFAULT_STATE,
        audit_log=places.audit_log,
        key_file=places.key_file,
    )


def _loaded(places: CommandTargets) -> Bundle:
    chosen = places.bundle or default_bundle()
    examination = examine_bundle(chosen, extra_folders=places.plugins_dirs, disable=places.disable)
    if examination.bundle is None:
        raise _BrokenBundleError(chosen, examination.problems)
    return examination.bundle


#: Hands a command of the program its site, which is there also where the group of all commands was not run.
pass_site = click.make_pass_decorator(ProgramSite, ensure=True)
#: That a site is what plugins are promised.
_promised: type[CommandContext] = ProgramSite
