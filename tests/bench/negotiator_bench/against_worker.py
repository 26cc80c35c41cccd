"""A process that runs the cycles of a served pool under one tree of the sources (see ``against``), and prints their figures as JSON.

The tree is the first on the path: this file must run under any commit that is compared, so it uses only what serves a pool in all of
them: a source of live pools, and the runtime with its state and its audit log. Its argument is a ``WorkerTask`` as JSON.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import attrs

from negotiator.app.runner import open_runner
from negotiator.app.service_settings import PoolDriver
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import CycleResult
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.collector import rare_collections

#: The cycles of a process: cold caches, the same ads again, and the ads in which some slots and jobs have changed.
CYCLES: Final = ("first", "unchanged", "changed")
#: The plugin of the bundle: its pool is the one of this process.
PLUGIN: Final = """\
import sys

from negotiator.plugin import Delivery, DeliveryStatus, LivePool, PoolSource, hookimpl


class Pool(LivePool):
    def __init__(self, settings, control):
        pass

    def fetch(self, ads):
        sys.modules["__main__"].POOL.fetch(ads)

    def deliver(self, decisions):
        return [Delivery(match, DeliveryStatus.DELIVERED) for match in decisions.matches]


@hookimpl
def negotiator_pool_sources():
    yield PoolSource(name="bench", open=Pool)
"""

#: The part of the decisions that has a digest of each attribute, too: ``journal NAME``.
JOURNAL: Final = "journal"
NOW: Final = 1_795_200_000.0
_INTERVAL: Final = 60.0  # seconds between the cycles
_COLLECTOR: Final = "collector"
_SCHEDD: Final = "schedd submit.example.org"
_ENGINE: Final = ("negotiator.classad", "negotiator.pool", "negotiator.cycle")
_BLOCK: Final = 1 << 20


@attrs.frozen
class WorkerTask:
    """What a process runs: a pool with so many cycles, after one over the ``warm`` pool, which imports what cycles need.

    ``pool`` and ``warm`` are folders of ``PoolFiles``, ``decisions`` one to write to. Every ``step``-th slot changes.
    """

    tree: str
    pool: str
    warm: str
    bundle: str
    decisions: str
    cycles: int
    step: int


@attrs.frozen
class CycleFigures:
    """A cycle: processor seconds beside reading and those of ``run_cycle`` in them, counts, and digests of its decisions."""

    seconds: float
    decide: float
    slots: int
    requests: int
    matches: int
    updated: bool  # the slots that did not change are those of the cycle before
    digests: dict[str, str]  # of its decisions, by part


@attrs.define
class PoolFiles:
    """Ads in long form, and what of them a served pool reads in its current cycle (one of ``CYCLES``)."""

    folder: Path
    step: int
    cycle: str = CYCLES[0]
    updated: bool = False

    def fetch(self, ads: Any) -> None:
        """Add the ads as the source of an HTCondor pool does: of slots that changed alone, and of all requests."""
        self.updated = ads.can_update
        has_changed = self.cycle == CYCLES[2]
        if self.updated:
            ads.update([self._text("present-changed.ads" if has_changed else "present.ads")])
            if has_changed:
                self._add(ads, _COLLECTOR, [self._text("slots-changed.ads")], "Machine")
        else:
            self._add(ads, _COLLECTOR, self._all_slots(has_changed=has_changed), "Machine")
        self._add(ads, _COLLECTOR, [self._text("submitters.ads")], "Submitter")
        self._add(ads, _COLLECTOR, [self._text("schedds.ads")], "Scheduler")
        ads.significant_attributes()  # which the schedds are asked for
        self._add(ads, _SCHEDD, _blocks(self.folder / ("jobs-changed.ads" if has_changed else "jobs.ads")))

    @staticmethod
    def _add(ads: Any, daemon: str, texts: Iterable[str], kind: str = "") -> None:
        kinds = {"kind": kind} if "kind" in inspect.signature(ads.add).parameters else {}
        ads.add(daemon, texts, **kinds)

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")

    def _all_slots(self, *, has_changed: bool) -> Iterator[str]:
        if not has_changed:
            yield from _blocks(self.folder / "slots.ads")
            return
        changed = iter(self._text("slots-changed.ads").split("\n\n"))
        before = (ad for ad in _ads(self.folder / "slots.ads"))
        for row, ad in enumerate(before):
            yield ad if row % self.step or not (own := next(changed, "")) else f"{own}\n\n"


#: The pool that the plugin of the bundle reads.
POOL: PoolFiles


def _blocks(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as opened:
        while text := opened.read(_BLOCK):
            yield text


def _ads(file: Path) -> Iterator[str]:
    rest = ""
    for block in _blocks(file):
        *whole, rest = (rest + block).split("\n\n")
        yield from (f"{ad}\n\n" for ad in whole)
    if rest:
        yield rest


def measure(task: WorkerTask) -> dict[str, Any]:
    """Run the cycles; return the figures of each, and the peak of this process in GB."""
    global POOL  # noqa: PLW0603 - the plugin reads it
    _check_origin(Path(task.tree))
    POOL = PoolFiles(Path(task.warm), task.step)
    list(_served(task, 1))
    _forget()
    POOL = PoolFiles(Path(task.pool), task.step)
    figures = list(_served(task, task.cycles))
    _check_origin(Path(task.tree))
    return {"cycles": [attrs.asdict(each) for each in figures], "gigabytes": _peak()}


def _served(task: WorkerTask, count: int) -> Iterator[CycleFigures]:
    """Serve the pool for so many cycles with a new state and a new audit log; write the decisions of each.

    Matches are released after their cycle, so that each begins with the same jobs and slots. Time limits are never reached.
    """
    bundle = Path(task.bundle)
    with tempfile.TemporaryDirectory() as name:
        targets = CommandTargets(
            bundle=bundle, state=Path(name, "state"), audit_log=Path(name, "audit"), now=NOW
        )
        decide = _Stopwatch(run_cycle)
        with (
            open_runner(targets, driver=PoolDriver.LIVE) as runner,
            patch("negotiator.runtime.run.run_cycle", decide),
            rare_collections(),
        ):
            runtime = runner.runtime
            runtime.monotonic = lambda: 0.0
            manager = runtime.state_manager
            read = _Stopwatch(runtime.pool.read)
            runtime.pool.read = read  # type: ignore[method-assign]
            for number, cycle in enumerate(CYCLES[:count]):
                POOL.cycle = cycle
                runtime.clock = partial(float, NOW + number * _INTERVAL)
                read.seconds = decide.seconds = 0.0
                gc.collect()
                start = time.process_time()
                result = runtime.next_cycle().result
                seconds = time.process_time() - start - read.seconds
                manager.release_undelivered(result, {match.id for match in result.matches})
                yield CycleFigures(
                    seconds=seconds,
                    decide=decide.seconds,
                    slots=result.counts.slots,
                    requests=result.counts.requests,
                    matches=len(result.matches),
                    updated=POOL.updated,
                    digests=write_decisions(result, Path(task.decisions, f"{cycle}.jsonl")),
                )
                del result


@attrs.define
class _Stopwatch:
    """Calls a function, and adds up the processor seconds of its calls."""

    call: Callable[..., Any]
    seconds: float = 0.0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        start = time.process_time()
        try:
            return self.call(*arguments, **named)
        finally:
            self.seconds += time.process_time() - start


def write_decisions(result: CycleResult, file: Path) -> dict[str, str]:
    """Write the decisions of a cycle, a line of JSON each, and return the digest of each part of them."""
    parts: defaultdict[str, Any] = defaultdict(hashlib.sha256)
    with file.open("w", encoding="utf-8") as opened:
        for number, (part, *values) in enumerate(decisions(result)):
            text = json.dumps([part, *values], default=_plain)
            opened.write(f"{text}\n")
            if part != JOURNAL:
                parts[part].update(f"{text}\n".encode())
                continue
            *entry, attributes = json.loads(text)
            parts[part].update(f"{entry}\n".encode())
            for name, value in attributes:
                parts[f"{part} {name}"].update(f"{number} {json.dumps(value)}\n".encode())
    return {part: digest.hexdigest() for part, digest in parts.items()}


def decisions(result: CycleResult) -> Iterator[list[Any]]:
    """Yield what a cycle decided, by part: matches as they were made, outcomes in their order, counters other than 0, the journal."""
    discarded = [[each.kind, each.reason.text, each.count] for each in result.discarded]
    for entry in result.journal:
        yield [JOURNAL, entry.job, entry.slot, entry.queue, entry.user, entry.group, entry.attributes]
    yield ["counts", result.counts, discarded]
    for match in sorted(result.matches, key=lambda match: int(match.id.rpartition(".")[2])):
        yield ["matches", match.job, match.slot, match.rank]
    for outcome in result.outcomes:
        request = outcome.request
        removals = [[each.reason.text, each.removed, each.rejected] for each in outcome.removals]
        yield ["outcomes", request.submitter, request.first_job, request.count, outcome.candidates, removals]
    if result.ledger is not None:
        counters = result.ledger.counters()
        sums: list[list[Any]] = [[key, value] for key, value in counters if value]
        sets: list[list[Any]] = [[key, dict(sorted(members.items()))] for key, members in counters.key_sets()]
        yield from sorted((["counters", *each] for each in (*sums, *sets)), key=repr)


def _plain(value: Any) -> object:
    if attrs.has(type(value)):
        return [getattr(value, field.name) for field in attrs.fields(type(value))]
    return value.item() if hasattr(value, "item") else repr(value)


def _forget() -> None:
    """Empty the caches of the engine; the tables of the warm pool have other ads, so nothing of them is of use."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_ENGINE):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
    gc.collect()


def _check_origin(tree: Path) -> None:
    """Raise RuntimeError if a module of the program or of a bundled plugin is not of this tree."""
    for name, module in list(sys.modules.items()):
        top, file = name.partition(".")[0], getattr(module, "__file__", None)
        is_own = top == "negotiator" or (top.startswith("negotiator_") and top != "negotiator_bench")
        if is_own and file is not None and not Path(file).resolve().is_relative_to(tree.resolve()):
            raise RuntimeError(f"the module {name} is {file}, which is not in {tree}")


def _peak() -> float:
    """Return the most resident GB of this process so far; 0 if the system does not provide them."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024 / 1e9


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(WorkerTask(**json.loads(sys.argv[1])))))
