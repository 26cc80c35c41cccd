"""The status of a running negotiator, as a file in the folder of its state: for monitoring, never read back by the negotiator."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any, Final, Self

import attrs
from attrs.validators import instance_of, optional

from negotiator import posix
from negotiator.errors import StateError
from negotiator.files import open_regular, replace_file
from negotiator.runtime import stored_fields

STATUS_FILE: Final = "status.json"
_LOCK: Final = "state.lock"
_VERSION: Final = 3
_MODE: Final = 0o640
_LONGEST: Final = 1 << 20  # bytes


@attrs.frozen(kw_only=True)
class UnmatchedJobs:
    """The jobs of a cycle that got no slot by reasons of a station, verdict and code."""

    station: str = stored_fields.text()
    verdict: str = stored_fields.text()
    code: str = stored_fields.text()
    jobs: int = stored_fields.integer()


@attrs.frozen(kw_only=True)
class CycleTotals:
    """Sums over the cycles of one process: those that took place and those that failed, and the seconds of the first."""

    cycles: int = stored_fields.counter()
    failed: int = stored_fields.counter()
    seconds: float = attrs.field(default=0.0, converter=float)
    matches: int = stored_fields.counter()
    undelivered: int = stored_fields.counter()


@attrs.frozen(kw_only=True)
class LastCycle:
    """A completed cycle. ``unanswered`` are the daemons that did not answer, ``plugins`` those that failed in it.

    ``overruns`` is how many running jobs broke ``overrun_rules`` rules when it began, ``limits_exceeded`` how many limits were exceeded, and
    ``unjudged`` how many running jobs are not known well enough to be judged by every rule. ``unmatched`` has the jobs without a slot by reason, those with most
    jobs first. ``bypassed`` are the rules that further jobs of a claim may break, with their places, and why; on
    ``one_job_slots`` a claim is for one job, ``reuse`` says why.
    """

    number: int = stored_fields.integer()
    begun: float = stored_fields.number()
    ended: float = stored_fields.number()
    slots: int = stored_fields.integer()
    jobs: int = stored_fields.integer()
    matches: int = stored_fields.integer()
    rejections: int = stored_fields.integer()
    undelivered: int = stored_fields.integer()
    unanswered: tuple[str, ...] = stored_fields.texts()
    plugins: tuple[str, ...] = stored_fields.texts()
    overruns: int = stored_fields.counter()
    overrun_rules: int = stored_fields.counter()
    limits_exceeded: int = stored_fields.counter()
    unjudged: int = stored_fields.counter()
    unmatched: tuple[UnmatchedJobs, ...] = stored_fields.records(UnmatchedJobs)
    bypassed: tuple[str, ...] = stored_fields.texts()
    one_job_slots: int = stored_fields.counter()
    reuse: tuple[str, ...] = stored_fields.texts()


@attrs.frozen(kw_only=True)
class PluginCallStatus:
    """A call of a plugin's code that goes on for long: the hook and the plugin, the request it is about, and when it began."""

    call: str = stored_fields.text()
    about: str = stored_fields.optional_text()
    since: float = stored_fields.number()


@attrs.frozen(kw_only=True)
class NegotiatorStatus:
    """What a negotiator does; times are in seconds since the epoch.

    ``process`` and ``process_began`` (clock ticks since the boot) identify the process on its ``host``. ``cycle_since`` is when
    the present cycle began, None between two cycles; it may take ``cycle_limit`` seconds and the time of its input and output.
    ``next_cycle`` is when the next one begins at the latest.
    ``plugin_call`` is the call of a plugin's code that goes on for long, if there is one.
    ``rejection`` has the errors for which the last reload was rejected, at ``rejected``: what was in force before stays so.
    ``differences`` are settings of the bundle other than those of the pool's own configuration.
    ``standby`` says which negotiator leads with a shared state instead of this one. ``failure`` is why the last cycle did not take place, at ``failed``.
    """

    host: str = stored_fields.text()
    process: int = stored_fields.integer()
    process_began: int = stored_fields.integer()
    started: float = stored_fields.number()
    bundle: str = stored_fields.text()
    cycle_limit: float = stored_fields.number()
    cycle_since: float | None = stored_fields.optional_number()
    next_cycle: float | None = stored_fields.optional_number()
    last: LastCycle | None = attrs.field(default=None, validator=optional(instance_of(LastCycle)))
    standby: str = stored_fields.optional_text()
    failure: str = stored_fields.optional_text()
    failed: float | None = stored_fields.optional_number()
    totals: CycleTotals = attrs.field(factory=CycleTotals, validator=instance_of(CycleTotals))
    plugin_call: PluginCallStatus | None = attrs.field(
        default=None, validator=optional(instance_of(PluginCallStatus))
    )

    rejected: float | None = stored_fields.optional_number()
    rejection: tuple[str, ...] = stored_fields.texts()
    differences: tuple[str, ...] = stored_fields.texts()

    @classmethod
    def of_this_process(cls, started: float, bundle: str, cycle_limit: float) -> Self:
        """Return the status at the start."""
        process = os.getpid()
        return cls(
            host=socket.gethostname(),
            process=process,
            process_began=_began(process),
            started=started,
            bundle=bundle,
            cycle_limit=cycle_limit,
        )

    @property
    def is_alive(self) -> bool:
        """True if its process runs on this host."""
        return self.host == socket.gethostname() and _began(self.process) == self.process_began != 0


def write_status(folder: Path, status: NegotiatorStatus) -> None:
    """Replace the status in the folder of a state.

    It is of a process that runs: after a crash of the machine nobody needs it, so it is not worth the time to wait for the disk.

    :raises OSError: it cannot be written; the old one is unchanged.
    """
    values = {"version": _VERSION, **attrs.asdict(status)}
    content = json.dumps(values, sort_keys=True).encode() + b"\n"
    replace_file(folder / STATUS_FILE, content, mode=_MODE, durable=False)


def read_status(folder: Path) -> NegotiatorStatus | None:
    """Return the status in the folder of a state; None if no negotiator has run with it.

    :raises StateError: it cannot be read, or another version of the program wrote it.
    """
    try:
        with os.fdopen(open_regular(folder / STATUS_FILE), "rb") as opened:
            return _status(json.loads(opened.read(_LONGEST)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise StateError(f"{folder / STATUS_FILE}: cannot read the status: {error}") from None


def _status(values: Any) -> NegotiatorStatus:
    if values.pop("version") != _VERSION:
        raise ValueError("another version of the program wrote it")
    if values.get("last") is not None:
        unmatched = tuple([UnmatchedJobs(**each) for each in values["last"].pop("unmatched")])
        values["last"].pop("overfills", None)  # of an earlier version
        values["last"] = LastCycle(**values["last"], unmatched=unmatched)
    values["totals"] = CycleTotals(**values["totals"])
    if values.get("plugin_call") is not None:
        values["plugin_call"] = PluginCallStatus(**values["plugin_call"])
    return NegotiatorStatus(**values)


def is_locked(folder: Path) -> bool | None:
    """Return whether a process uses the state in a folder; None if this user may not look at the lock."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        posix.lock_file(lock, shared=True)  # a negotiator that starts now waits for it
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _began(process: int) -> int:
    """Return when a process began, in clock ticks since the boot; 0 if it does not run."""
    try:
        text = Path("/proc", str(process), "stat").read_text(encoding="utf-8", errors="replace")
        state, *fields = text.rpartition(")")[2].split()
        return 0 if state == "Z" else int(fields[18])
    except (OSError, ValueError, IndexError):
        return 0
