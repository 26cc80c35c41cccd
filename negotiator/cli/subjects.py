"""What commands about queues begin with: the queues as a negotiator keeps them, and a user with their groups."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import attrs
import click

from negotiator.bundle.model import Bundle
from negotiator.cli.render import printable
from negotiator.cycle.applications import groups_of, is_name
from negotiator.errors import StateError
from negotiator.hooks.answers import HookFailure
from negotiator.runtime.state import StateStore
from negotiator.runtime.state_manager import StateManager

NO_STATE = 6


@attrs.frozen
class Subject:
    """Whom a command asks about. ``known`` is False where a plugin failed that might have known more groups."""

    user: str
    groups: tuple[str, ...]
    origin: str  # of the groups, for people
    failures: tuple[HookFailure, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the groups are what a cycle would find."""
        return not self.failures

    def __str__(self) -> str:
        """``user sue, groups dev, ops (as plugins know them)``."""
        noun = "group" if len(self.groups) == 1 else "groups"
        return f"user {self.user}, {noun} {', '.join(self.groups) or 'none'} ({self.origin})"


def person(bundle: Bundle, user: str, groups: Sequence[str], now: float) -> Subject:
    """Take the groups that are given, else look them up as a cycle does; what failed is told on standard error."""
    for group in groups:
        if group and not is_name(group):
            raise click.UsageError(
                f"{printable(group[:80])!r} is no name of a group: up to 200 printable characters"
            )
    if groups:
        return Subject(user, groups_of(",".join(groups)), "as given")
    found, failures = bundle.hooks.user_groups((user,), now, bundle.settings)
    for failure in failures:
        click.echo(f"error: {printable(str(failure))}", err=True)
    if user in found:
        return Subject(user, found[user], "as plugins know them")
    origin = "a plugin failed" if failures else "no plugin knows the user"
    return Subject(user, (), origin, failures)


def state_manager(state: Path | None, bundle: Bundle, now: float) -> StateManager:
    """Give the queues and applications of a folder of state, the configured queues without one; end where that fails.

    Nothing is written.
    """
    try:
        return read_state_manager(state, bundle, now)
    except StateError as error:
        _no_state(str(error))


def read_state_manager(state: Path | None, bundle: Bundle, now: float) -> StateManager:
    """Do as ``state_manager`` does, but raise StateError where that fails."""
    if state is None:
        return StateManager.begin(bundle, now)
    with StateStore.read(state) as store:
        kept = StateManager.begin(bundle, now, store)
    kept.store = None
    return kept


def _no_state(why: str) -> NoReturn:
    click.echo(f"error: {printable(why)}", err=True)
    sys.exit(NO_STATE)
