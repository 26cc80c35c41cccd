"""``make bench-against``: cycles of the working tree and of another commit in turn, over the same pools, and whether they decide the same.

Each round of a pool is a process under each of the two trees (see ``against_worker``), which serves the pool for three cycles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any, Final

import attrs
import click

from negotiator.bundle import default_bundle
from negotiator.cli.render import print_table, printable
from negotiator_bench.against_worker import CYCLES, JOURNAL, PLUGIN, CycleFigures, WorkerTask
from negotiator_bench.attacks import ATTACKS, OWNER, SEED, Attack
from negotiator_bench.command import NOT_MEASURED
from negotiator_bench.errors import BenchError, ProcessFailedError
from negotiator_bench.figures import SpeedTarget
from negotiator_bench.inputs import SLOTS
from negotiator_bench.large import LARGE_BUNDLE
from negotiator_bench.machine import one_core, this_machine
from negotiator_bench.requests import request_text
from negotiator_bench.slots import fixed, varied
from negotiator_bench.templates import long_form

ROOT: Final = Path(__file__).parents[3]

DIFFERENT: Final = 1
STEP: Final = 50
"""Every so many slots and classes, one changes for the third cycle: 2 %."""

_SCHEDD: Final = "submit.example.org"
_OTHER: Final = 2_000_000
"""Slots and job classes from here on are in no pool; changed ones have values of theirs."""

_MOVING: Final = ("Memory", "Disk", "LoadAvg", "Mips")
_OF_JOB: Final = ("Owner ", "User ", "AccountingGroup ", "ClusterId ", "GlobalJobId ")
_SOURCE: Final = "source: bench\nplugins:\n  folders: [plugins]\n"
_BLOCK: Final = 1 << 20
_PATIENCE: Final = 7200  # seconds of one process
_SHOWN: Final = 500  # characters of each decision that differs


@attrs.frozen
class CycleTargets:
    """How many times as fast as commit 17652a63 the cycles of a pool are to be, in the order of ``CYCLES``; None: no target.

    ``seconds`` and ``gigabytes`` are bounds of the first cycle and of its process.
    """

    times: tuple[float | None, ...] = (None, None, None)
    seconds: float | None = None
    gigabytes: float | None = None


@attrs.frozen
class ComparedPool:
    """Slots of a kind, and requests for so many jobs of each class, of so many submitters in turn.

    ``is_large``: with fair share, limits and quotas (``LARGE_BUNDLE``) instead of the default bundle. ``is_hostile`` adds the ads of all
    attacks, each of an owner of its own.
    """

    kind: str
    slots: int
    classes: int
    jobs: int = 2
    targets: CycleTargets = CycleTargets()
    submitters: int = 6
    is_large: bool = False
    is_hostile: bool = False
    cycles: int = len(CYCLES)
    first: int = 0  # the number of the first slot and of the first class

    def write(self, folder: Path) -> None:
        """Write the files of a ``PoolFiles``."""
        folder.mkdir()
        attacks = list(_attacks()) if self.is_hostile else []
        hostile_slots = [text for each in attacks for text in each.slots]
        hostile_jobs = [text for each in attacks for text in each.jobs]
        make, rows = SLOTS[self.kind], range(self.first, self.first + self.slots)
        classes = range(self.first, self.first + self.classes)
        _write(folder / "slots.ads", (f"{make(row)}\n" for row in rows), (f"{ad}\n" for ad in hostile_slots))
        jobs = (self._request(number, number) for number in classes)
        _write(folder / "jobs.ads", jobs, (f"{ad}\n" for ad in hostile_jobs))
        _write(
            folder / "schedds.ads", [f'MyType = "Scheduler"\nName = "{_SCHEDD}"\nMachine = "{_SCHEDD}"\n\n']
        )
        _write(folder / "submitters.ads", map(_submitter, self._users(attacks)))
        if self.cycles < len(CYCLES):
            return
        changed = (f"{self._changed_slot(row)}\n" for row in rows[::STEP])
        _write(folder / "slots-changed.ads", changed)
        other = (
            self._request(number, number if place % STEP else _OTHER + number)
            for place, number in enumerate(classes)
        )
        _write(folder / "jobs-changed.ads", other, (f"{ad}\n" for ad in hostile_jobs))
        for name, has_changed in (("present.ads", False), ("present-changed.ads", True)):
            known = (
                _present(varied(row), changed=has_changed and not place % STEP)
                for place, row in enumerate(rows)
            )
            _write(folder / name, known, (_present(_attributes(ad), changed=False) for ad in hostile_slots))

    def write_bundle(self, folder: Path) -> None:
        """Write the bundle."""
        default = default_bundle()
        files = LARGE_BUNDLE if self.is_large else {file.name: file.read_text() for file in default.iterdir()}
        (folder / "plugins").mkdir(parents=True, mode=0o755)
        (folder / "plugins" / "bench.py").write_text(PLUGIN, "utf-8")
        for name, text in files.items():
            (folder / name).write_text(f"{text}\n{_SOURCE}" if name == "pool.yaml" else text, "utf-8")

    def _changed_slot(self, row: int) -> str:
        make = SLOTS[self.kind]
        own, other = _attributes(make(row)), _attributes(make(_OTHER + row))
        return long_form(
            own | {name: other[name] for name in _MOVING if name in other} | _update(changed=True)
        )

    def _request(self, number: int, content: int) -> str:
        """Return the request of a class with the expressions of another one."""
        lines = request_text(content, self.jobs).splitlines()
        user = self._user(number)
        own = [
            f'Owner = "{user}"',
            f'User = "{user}@example.org"',
            f"ClusterId = {number + 1}",
            f'GlobalJobId = "{_SCHEDD}#{number + 1}.0#1795199259"',
        ]
        return "\n".join([*(line for line in lines if line and not line.startswith(_OF_JOB)), *own, "\n"])

    def _user(self, number: int) -> str:
        return f"u{number % self.submitters}"

    def _users(self, attacks: Sequence[Attack]) -> Iterator[tuple[str, int]]:
        """Yield the users, and the number of the idle jobs of each."""
        classes = Counter(self._user(number) for number in range(self.first, self.first + self.classes))
        yield from ((user, self.jobs * count) for user, count in classes.items())
        for number, attack in enumerate(attacks):
            yield f"{OWNER}{number}", len(attack.jobs)


#: By name; the targets are those of issue 38, against commit 17652a63.
POOLS: Final = {
    "plain-100": ComparedPool("plain", 20_000, 100, targets=CycleTargets((4, 10, 8))),
    "plain-1000": ComparedPool("plain", 20_000, 1_000, targets=CycleTargets((8, 15, 12))),
    "plain-10000": ComparedPool("plain", 20_000, 10_000, targets=CycleTargets((20, 30, 25))),
    "plain-100k": ComparedPool("plain", 100_000, 10_000, targets=CycleTargets((15, 20, 18))),
    "mixed": ComparedPool("mixed", 20_000, 1_000, targets=CycleTargets((8, 12, 10))),
    "kinds": ComparedPool("kinds", 20_000, 1_000, targets=CycleTargets((8, 12, 10))),
    "busy": ComparedPool("busy", 20_000, 1_000, 10),
    "large": ComparedPool(
        "plain", 100_000, 10_000, 10, CycleTargets((10, 12, 10)), submitters=1_000, is_large=True
    ),
    "hostile": ComparedPool("plain", 2_000, 100, is_hostile=True),
    "million": ComparedPool(
        *("plain", 1_000_000, 20_000, 10, CycleTargets((10, None, None), seconds=15, gigabytes=11)), cycles=1
    ),
}
#: It takes an hour, 6 GB of the temporary folder and 12 GB of memory.
NOT_BY_DEFAULT: Final = ("million",)
#: The pool of the cycle before the measured ones: its slots and classes are in no other.
_WARM: Final[dict[str, Any]] = {
    "slots": 200,
    "classes": 20,
    "first": 3_000_000,
    "is_hostile": False,
    "cycles": 1,
}


def _attacks() -> Iterator[Attack]:
    """Yield the attacks, each with an owner, jobs and hosts of its own."""
    for number, make in enumerate(ATTACKS.values()):
        made = make()
        jobs = (
            text.replace(f'"{OWNER}', f'"{OWNER}{number}').replace(
                f"{900_000 + place}", f"{900_000 + 1_000 * number + place}"
            )
            for place, text in enumerate(made.jobs)
        )
        slots = (text.replace("@hostile", f"@hostile{number}x") for text in made.slots)
        slots = (text.replace('"hostile', f'"hostile{number}x') for text in slots)
        yield Attack(tuple(jobs), tuple(slots))


def _attributes(text: str) -> dict[str, str]:
    return dict(line.split(" = ", 1) for line in text.splitlines() if line)


def _update(*, changed: bool) -> dict[str, str]:
    """Return the attributes that every update of a slot changes."""
    later = int(changed)
    heard, number = (int(fixed()[name]) for name in ("LastHeardFrom", "UpdateSequenceNumber"))
    return {"LastHeardFrom": f"{heard + 60 * later}", "UpdateSequenceNumber": f"{number + later}"}


def _present(slot: dict[str, str], *, changed: bool) -> str:
    own = {name: slot[name] for name in ("Name", "MyAddress")}
    return f"{long_form(own | _update(changed=changed))}\n"


def _submitter(user: tuple[str, int]) -> str:
    name, idle = user
    return (
        f'MyType = "Submitter"\nName = "{name}@example.org"\nScheddName = "{_SCHEDD}"\n'
        f"IdleJobs = {idle}\nRunningJobs = 0\n\n"
    )


def _write(file: Path, *texts: Any) -> None:
    with file.open("w", encoding="utf-8", buffering=_BLOCK) as opened:
        for each in texts:
            opened.writelines(each)


@attrs.frozen
class Tree:
    """The sources of a commit, and a folder with the entry points of its own plugins."""

    name: str
    root: Path
    metadata: Path

    @classmethod
    def of(cls, name: str, root: Path, metadata: Path) -> Tree:
        """Write the entry points of a tree: those of the environment are the ones of the working tree."""
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
        folder = metadata / f"{project['name'].replace('-', '_')}-0.dist-info"
        folder.mkdir(parents=True)
        plugins = project["entry-points"]["negotiator"].items()
        lines = [f"{plugin} = {value}\n" for plugin, value in plugins]
        (folder / "entry_points.txt").write_text(f"[negotiator]\n{''.join(lines)}", "utf-8")
        (folder / "METADATA").write_text(f"Name: {project['name']}\nVersion: 0\n\n", "utf-8")
        return cls(name, root, metadata)

    def measure(self, task: WorkerTask) -> ProcessFigures:
        """Run the cycles of a pool in a new process.

        :raises ProcessFailedError: it failed.
        """
        path = (self.metadata, self.root, self.root / "plugins", Path(__file__).parents[1])
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path)), "TZ": "UTC"}
        command = [sys.executable, "-P", "-m", "negotiator_bench.against_worker"]
        command.append(json.dumps(attrs.asdict(task)))
        try:
            done = subprocess.run(  # noqa: S603 - our own module
                command, env=environment, capture_output=True, check=True, timeout=_PATIENCE
            )
        except subprocess.CalledProcessError as error:
            raise ProcessFailedError(
                f"{self.name}: {error.stderr.decode(errors='replace')[-2000:]}"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise ProcessFailedError(f"{self.name}: {error}") from error
        found = json.loads(done.stdout)
        return ProcessFigures(tuple(CycleFigures(**each) for each in found["cycles"]), found["gigabytes"])


@attrs.frozen
class ProcessFigures:
    """The cycles of one process, and the GB that it had at most."""

    cycles: tuple[CycleFigures, ...]
    gigabytes: float


@attrs.frozen
class Difference:
    """A part of the decisions that differs, the first cycle in which it does, and the first difference there."""

    part: str
    cycle: str
    text: str


@attrs.define
class Comparison:
    """The rounds of a pool, each under the other commit and under the working tree, and the parts of the decisions that differ."""

    name: str
    pool: ComparedPool
    is_judged: bool
    rounds: list[tuple[ProcessFigures, ProcessFigures]] = attrs.field(factory=list)
    differences: list[Difference] = attrs.field(factory=list)

    def seconds(self, cycle: int, side: int, figure: str = "seconds") -> list[float]:
        """Return the processor seconds of a cycle in each round, of one side."""
        return [getattr(each[side].cycles[cycle], figure) for each in self.rounds]

    def ratios(self, cycle: int, figure: str = "seconds") -> list[float]:
        """Return how many times as fast a cycle is in each round."""
        pairs = zip(self.seconds(cycle, 0, figure), self.seconds(cycle, 1, figure), strict=True)
        return [other / own for other, own in pairs]

    def unexpected(self, accepted: Collection[str]) -> list[Difference]:
        """Return the differences beside those that are accepted: names of pools and of parts of the decisions."""
        if self.name in accepted:
            return []
        return [each for each in self.differences if each.part not in accepted]

    def gigabytes(self, side: int) -> float:
        """Return the GB of the processes of one side."""
        return max(each[side].gigabytes for each in self.rounds)

    def judged(self, cycle: int) -> str:
        """Return the target of a cycle and whether it is met; empty without one."""
        target = self.pool.targets.times[cycle] if self.is_judged else None
        if target is None:
            return ""
        met = SpeedTarget("ratio", at_least=target).met_by(median(self.ratios(cycle)))
        return f"{target:g}, {'met' if met else 'missed'}"

    def as_json(self) -> dict[str, object]:
        """Return every figure as JSON values."""
        return {
            "pool": self.name,
            "composition": attrs.asdict(self.pool),
            "judged": self.is_judged,
            "rounds": [[attrs.asdict(side) for side in each] for each in self.rounds],
            "ratios": {cycle: median(self.ratios(n)) for n, cycle in enumerate(CYCLES[: self.pool.cycles])},
            "differences": [attrs.asdict(each) for each in self.differences],
        }


def compare(name: str, pool: ComparedPool, trees: tuple[Tree, Tree], rounds: int) -> Comparison:
    """Measure a pool under two trees in turn; a round begins with either of them in turn.

    :raises BenchError: a process failed.
    """
    found = Comparison(name, pool, is_judged=POOLS.get(name) == pool)
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        pool.write(folder / "pool")
        attrs.evolve(pool, **_WARM).write(folder / "warm")
        pool.write_bundle(folder / "bundle")
        for number in range(rounds):
            sides: dict[int, ProcessFigures] = {}
            for side in ((0, 1), (1, 0))[number % 2]:
                decisions = folder / f"decisions-{side}"
                decisions.mkdir(exist_ok=True)
                sides[side] = trees[side].measure(
                    WorkerTask(
                        tree=str(trees[side].root),
                        pool=str(folder / "pool"),
                        warm=str(folder / "warm"),
                        bundle=str(folder / "bundle"),
                        decisions=str(decisions),
                        cycles=pool.cycles,
                        step=STEP,
                    )
                )
                _print_progress(f"{name}, round {number + 1}, {trees[side].name}", sides[side])
            found.rounds.append((sides[0], sides[1]))
            found.differences += list(_differences(found, folder, trees))
    return found


def _differences(found: Comparison, folder: Path, trees: tuple[Tree, Tree]) -> Iterator[Difference]:
    """Yield each part of the decisions that differs between the trees, or from the first round, with the first difference."""
    first, last = found.rounds[0], found.rounds[-1]
    known = {each.part for each in found.differences}
    for number, cycle in enumerate(CYCLES[: found.pool.cycles]):
        before, now = ([side.cycles[number].digests for side in each] for each in (first, last))
        for part in sorted(now[0].keys() | now[1].keys()):
            if now[0].get(part) != now[1].get(part) and part not in known:
                known.add(part)
                yield Difference(part, cycle, _first_difference(folder, cycle, part, trees))
            for tree, one, other in zip(trees, before, now, strict=True):
                if one.get(part) != other.get(part) and (name := f"{part} of {tree.name}") not in known:
                    known.add(name)
                    yield Difference(name, cycle, "another process has decided differently")


def _first_difference(folder: Path, cycle: str, part: str, trees: tuple[Tree, Tree]) -> str:
    sides = [_decisions(folder / f"decisions-{side}" / f"{cycle}.jsonl", part) for side in (0, 1)]
    for number, lines in enumerate(zip_longest(*sides, fillvalue="nothing"), 1):
        if lines[0] != lines[1]:
            at = next((at for at, (one, other) in enumerate(zip(*lines, strict=False)) if one != other), 0)
            texts = [f"{tree.name}: {_around(line, at)}" for tree, line in zip(trees, lines, strict=True)]
            return "\n  ".join([f"number {number}", *texts])
    return ""


def _decisions(file: Path, part: str) -> Iterator[str]:
    """Yield the decisions of a part; of an attribute of the journal its values, beside those of the jobs and slots."""
    kind, _, attribute = part.partition(" ")
    with file.open(encoding="utf-8") as opened:
        for line in opened:
            own, *values = json.loads(line)
            if own == kind and own == JOURNAL:
                *entry, attributes = values
                named = dict(attributes)
                if attribute and attribute in named:
                    yield json.dumps([*entry, named[attribute]])
                elif not attribute:
                    yield json.dumps(entry)
            elif own == kind:
                yield json.dumps(values)


def _around(line: str, at: int) -> str:
    """Return a line; of a long one what is around a place."""
    start = max(0, min(at - _SHOWN // 2, len(line) - _SHOWN))
    end = start + _SHOWN
    return f"{'...' if start else ''}{line[start:end]}{'...' if end < len(line) else ''}"


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Check a commit out into a temporary folder for as long as the context lasts.

    :raises BenchError: there is no repository, or no such commit.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "tree")
        found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}").strip()
        _git("worktree", "add", "--quiet", "--detach", str(folder), found)
        try:
            yield folder
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> str:
    try:
        command = ["git", "-C", str(ROOT), *arguments]
        done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - the user's
    except OSError as error:
        raise BenchError(f"git cannot be run: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip() or "there is no such commit"
        raise BenchError(f"git {' '.join(arguments)}: {reason}") from error
    return done.stdout


def _names(_context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(value.split(",")))
    if unknown := [name for name in names if name not in POOLS]:
        raise click.BadParameter(f"{unknown[0]!r}: choose from {', '.join(POOLS)}", param=parameter)
    return names


@click.command(short_help="Compare cycles with another commit.")
@click.argument("commit")
@click.option(
    "--pools",
    default=",".join(name for name in POOLS if name not in NOT_BY_DEFAULT),
    callback=_names,
    help=f"Some of {','.join(POOLS)}.",
    show_default=True,
)
@click.option("--slots", type=click.IntRange(1), help="Of each pool, instead of its own number.")
@click.option("--classes", type=click.IntRange(1), help="Of alike jobs, instead of its own number.")
@click.option("--jobs", type=click.IntRange(1), help="Of each class, instead of its own number.")
@click.option("--rounds", default=3, type=click.IntRange(1), help="Of each pool.", show_default=True)
@click.option(
    "--accept",
    default=(),
    callback=lambda _context, _parameter, value: tuple(value.split(",")) if value else (),
    help="Pools and parts of the decisions that may differ, as hostile,journal owner.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every figure.")
def against(
    commit: str,
    pools: tuple[str, ...],
    slots: int | None,
    classes: int | None,
    jobs: int | None,
    rounds: int,
    accept: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Measure cycles of the working tree and of COMMIT in turn, over the same pools, on one core.

    Each process serves a pool for three cycles: with cold caches, with the same ads, and with 2 % of slots and requests changed. The
    seconds are those of the processor from the ads in memory to the outcome on disk, with state and audit log. Targets are those
    against commit 17652a63, and are judged for the pools' own sizes. All default pools take an hour and 2 GB of the temporary folder.

    \b
    Exit codes:
      0  measured, with the same decisions
      1  a decision differs that --accept does not name
      2  the command line is wrong
      4  something could not be measured

    \b
    Examples:
      make bench-against COMMIT=17652a63
      make bench-against COMMIT=HEAD~1 AGAINST="--pools plain-100,large --slots 5000 --classes 200"
    """
    sizes: dict[str, Any] = {
        name: size for name, size in (("slots", slots), ("classes", classes), ("jobs", jobs)) if size
    }
    found: list[Comparison] = []
    try:
        with one_core() as pinned, tempfile.TemporaryDirectory() as folder, checked_out(commit) as other:
            trees = Tree.of(commit, other, Path(folder, "other")), Tree.of("here", ROOT, Path(folder, "own"))
            for name in pools:
                found.append(compare(name, attrs.evolve(POOLS[name], **sizes), trees, rounds))
                if not as_json:
                    print_pool(found[-1], commit)
    except BenchError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NOT_MEASURED)
    machine = this_machine(one_core=pinned)
    if as_json:
        values = [each.as_json() for each in found]
        facts = {"machine": attrs.asdict(machine), "commit": commit, "seed": SEED, "pools": values}
        click.echo(json.dumps(facts, sort_keys=True))
    else:
        click.echo(printable(f"{machine.implementation} {machine.python}, {machine.processor}"))
        print_comparisons(found, commit)
    if any(each.unexpected(accept) for each in found):
        sys.exit(DIFFERENT)


def _print_progress(what: str, figures: ProcessFigures) -> None:
    seconds = ", ".join(f"{each.seconds:.2f}" for each in figures.cycles)
    click.echo(printable(f"{what}: {seconds} s"), err=True)


def print_pool(found: Comparison, commit: str) -> None:
    """Print what differs in a pool, as soon as it is measured."""
    for each in found.differences:
        text = f"{found.name}, {each.cycle} cycle, {each.part} differ: {each.text}"
        click.echo("\n".join(map(printable, text.split("\n"))), err=True)
    sides = [[each.updated for each in side.cycles] for side in found.rounds[-1]]
    if sides[0] != sides[1]:
        click.echo(
            printable(
                f"{found.name}: {commit} reads all slots anew where the working tree does not, or the reverse"
            ),
            err=True,
        )


def print_comparisons(found: Sequence[Comparison], commit: str) -> None:
    """Print the ratios of all pools, and what the pools are."""
    if any(each.pool.is_hostile for each in found):
        click.echo(f"Seed of the hostile ads: {SEED}")
    print_table(
        f"Processor seconds of a cycle with its records, medians; times as fast as {commit}",
        ("POOL", "CYCLE", "BEFORE", "HERE", "TIMES", "RANGE", "TARGET", "RUN_CYCLE", "DECISIONS"),
        [row for each in found for row in _rows(each)],
        right=(2, 3, 4, 5, 7),
    )
    print_table(
        "The pools",
        ("POOL", "SLOTS", "CLASSES", "JOBS", "MATCHES", "GB BEFORE", "GB HERE", "BOUNDS"),
        [_pool_row(each) for each in found],
        right=(1, 2, 3, 4, 5, 6),
    )


def _rows(found: Comparison) -> Iterator[tuple[str, ...]]:
    different = ", ".join(each.part for each in found.differences)
    for number, cycle in enumerate(CYCLES[: found.pool.cycles]):
        ratios = found.ratios(number)
        yield (
            found.name,
            cycle,
            *(f"{median(found.seconds(number, side)):.3f}" for side in (0, 1)),
            f"{median(ratios):.2f}",
            f"{min(ratios):.2f}-{max(ratios):.2f}",
            found.judged(number),
            f"{median(found.ratios(number, 'decide')):.2f}",
            f"DIFFERENT: {different}" if different else "equal",
        )


def _pool_row(found: Comparison) -> tuple[str, ...]:
    pool, targets = found.pool, found.pool.targets
    bounds = []
    if found.is_judged and targets.seconds is not None:
        met = median(found.seconds(0, 1)) <= targets.seconds
        bounds.append(f"{targets.seconds:g} s, {'met' if met else 'missed'}")
    if found.is_judged and targets.gigabytes is not None:
        met = found.gigabytes(1) <= targets.gigabytes
        bounds.append(f"{targets.gigabytes:g} GB, {'met' if met else 'missed'}")
    matches = found.rounds[-1][1].cycles[0].matches
    sizes = (f"{size:,}" for size in (pool.slots, pool.classes, pool.jobs, matches))
    return (found.name, *sizes, *(f"{found.gigabytes(side):.2f}" for side in (0, 1)), "; ".join(bounds))


if __name__ == "__main__":
    against(prog_name="python -m negotiator_bench.against")
