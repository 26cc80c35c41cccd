"""What a command works on: the bundle, the state, the audit log and the pool that its options name."""

from __future__ import annotations

from pathlib import Path

import attrs

from negotiator.defaults import DEFAULT_STATE
from negotiator.hooks.state_location import DatabaseUrl, StateLocation


@attrs.frozen(kw_only=True)
class CommandTargets:
    """The folders and files that a command works on, from its options or the environment.

    ``bundle`` is the folder of the policy bundle, None for the built-in one. ``state`` is the folder of the negotiator's
    state; if None, changes are recorded in ``var/state``, and usage is counted from the pool alone. ``pool`` are folders
    and files of ads. ``now`` is in seconds since the epoch, None for the current time. ``scheduler_acl`` replaces the
    bundle's list of the users and groups who may change the configuration; None leaves it to the bundle. ``state_database`` has
    the state instead of the folder, if several central managers share it; ``negotiator_name`` is one of several negotiators of a pool, which
    have a state each in it.
    """

    bundle: Path | None = None
    plugins_dirs: tuple[Path, ...] = ()
    disable: tuple[str, ...] = ()
    state: Path | None = None
    state_database: DatabaseUrl | None = None
    negotiator_name: str = ""
    audit_log: Path = Path("var/audit")
    key_file: Path | None = None
    pool: tuple[Path, ...] = ()
    now: float | None = None
    scheduler_acl: str | None = None

    @property
    def state_location(self) -> StateLocation | None:
        """Where the state is; None without one."""
        if self.state is None and self.state_database is None:
            return None
        return self.required_state

    @property
    def required_state(self) -> StateLocation:
        """Where the state of a command is that needs one: ``var/state`` if none is given."""
        name = self.negotiator_name if self.state_database is not None else ""
        return StateLocation(self.state or DEFAULT_STATE, self.state_database, name)
