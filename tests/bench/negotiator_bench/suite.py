"""All measurements, one after the other, on one core."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack

import attrs

from negotiator_bench import (
    charging,
    columns,
    cycles,
    hostile,
    matching,
    memory,
    placing,
    quotas,
    reading,
    scalar,
    sharing,
    start,
)
from negotiator_bench.figures import Area, Figure, Measured
from negotiator_bench.inputs import Composition, compositions
from negotiator_bench.machine import Machine, one_core, this_machine
from negotiator_bench.plan import Plan
from negotiator_bench.worker_client import Worker, library_is_here


@attrs.frozen
class Report:
    """The figures, the machine and the inputs; ``disagreements`` are the differing answers of the library."""

    plan: Plan
    machine: Machine
    inputs: dict[str, Composition]
    figures: tuple[Figure, ...]
    disagreements: tuple[str, ...]
    library: bool  # whether HTCondor's library was measured

    @property
    def missed(self) -> tuple[Figure, ...]:
        """The figures that do not reach their target."""
        return tuple(figure for figure in self.figures if figure.met is False)

    @property
    def unknown(self) -> tuple[Figure, ...]:
        """The figures whose target cannot be judged."""
        return tuple(figure for figure in self.figures if figure.target and figure.met is None)

    def as_json(self) -> dict[str, object]:
        """Return the report as JSON values, as ``make bench BENCH=--json`` prints it."""
        return {
            "machine": attrs.asdict(self.machine),
            "plan": attrs.asdict(self.plan),
            "library": self.library,
            "inputs": {name: attrs.asdict(made) for name, made in self.inputs.items()},
            "figures": [figure.as_json() for figure in self.figures],
            "missed": len(self.missed),
            "disagreements": list(self.disagreements),
        }


def run(plan: Plan, areas: Collection[Area], progress: Callable[[str], None]) -> Report:
    """Measure these areas; ``progress`` is called with the name of each measurement before it begins.

    :raises BenchError: something could not be measured.
    """
    with one_core() as pinned:
        measured = list(_measurements(plan, areas, progress))
    return Report(
        plan=plan,
        machine=this_machine(one_core=pinned),
        inputs=compositions(),
        figures=tuple(figure for each in measured for figure in each.figures if figure.area in areas),
        disagreements=tuple(text for each in measured for text in each.disagreements),
        library=library_is_here(),
    )


def _measurements(plan: Plan, areas: Collection[Area], progress: Callable[[str], None]) -> Iterator[Measured]:
    with ExitStack() as stack:
        library = stack.enter_context(Worker()) if library_is_here() else None
        if Area.MATCHING in areas or Area.RANKING in areas:
            for kind, size in plan.matching:
                progress(f"matching and ranking, {size:,} {kind} slots")
                yield matching.measure(kind, size, plan, library)
        if Area.SCALAR in areas:
            progress("scalar evaluation")
            yield scalar.measure(plan, library)
        if Area.COLUMNS in areas:
            progress(f"one expression over {plan.columns:,} ads")
            yield columns.measure(plan, library)
        if Area.READING in areas:
            progress(f"reading, {plan.read:,} ads")
            yield reading.measure(plan, library)
    if Area.PLACING in areas or Area.SWAPPING in areas:
        progress(f"placing, {plan.applications:,} applications; swapping, {plan.queues:,} queues")
        yield placing.measure(plan)
    if Area.ADMISSION in areas or Area.CHARGING in areas:
        progress("admission and charging")
        yield charging.measure(plan)
    if Area.QUOTAS in areas:
        progress("resource quota sets")
        yield quotas.measure(plan)
    if Area.CYCLE in areas:
        for size in plan.cycles:
            progress(f"whole cycles, {size:,} slots")
            yield cycles.measure(size, plan)
        progress("whole cycles over unlike slots")
        yield cycles.measure_unlike(plan)
    if Area.SHARING in areas:
        progress("fair share")
        yield sharing.measure(max(plan.cycles), plan)
    if Area.HOSTILE in areas:
        progress(f"hostile ads, {plan.hostile_slots:,} slots")
        yield hostile.measure(plan)
    if Area.START in areas:
        progress("start of the program")
        yield start.measure(plan)
    if Area.MEMORY in areas:
        progress(f"memory, {plan.memory:,} ads")
        yield memory.measure(plan, library=library is not None)
