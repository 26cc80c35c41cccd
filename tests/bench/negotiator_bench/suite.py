"""All measurements, one after the other, on one core."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack

import attrs

from negotiator_bench import charging, cycles, matching, memory, placing, quotas, reading, scalar
from negotiator_bench.figures import Area, Figure, Measured
from negotiator_bench.inputs import Composition, compositions
from negotiator_bench.machine import Machine, one_core, this_machine
from negotiator_bench.peer import Peer, library_is_here
from negotiator_bench.plan import Plan


@attrs.frozen
class Report:
    """What was measured, on what, and of what; ``disagreements`` tell where the library's answers differ from ours."""

    plan: Plan
    machine: Machine
    inputs: dict[str, Composition]
    figures: tuple[Figure, ...]
    disagreements: tuple[str, ...]
    library: bool  # whether HTCondor's library was there to be asked

    @property
    def missed(self) -> tuple[Figure, ...]:
        """The figures that do not reach their target."""
        return tuple(figure for figure in self.figures if figure.met is False)

    @property
    def unknown(self) -> tuple[Figure, ...]:
        """The figures with a target of which nothing can be said."""
        return tuple(figure for figure in self.figures if figure.target and figure.met is None)

    def as_json(self) -> dict[str, object]:
        """Give the report as values that JSON has: what ``negotiator bench --json`` prints."""
        return {
            "machine": attrs.asdict(self.machine),
            "plan": attrs.asdict(self.plan),
            "library": self.library,
            "inputs": {name: attrs.asdict(made) for name, made in self.inputs.items()},
            "figures": [figure.as_json() for figure in self.figures],
            "missed": len(self.missed),
            "disagreements": list(self.disagreements),
        }


def run(plan: Plan, areas: Collection[Area], tell: Callable[[str], None]) -> Report:
    """Measure these areas; ``tell`` is called with the name of each measurement before it begins.

    :raises BenchError: something could not be measured.
    """
    with one_core() as pinned:
        measured = list(_measurements(plan, areas, tell))
    return Report(
        plan=plan,
        machine=this_machine(one_core=pinned),
        inputs=compositions(),
        figures=tuple(figure for each in measured for figure in each.figures if figure.area in areas),
        disagreements=tuple(text for each in measured for text in each.disagreements),
        library=library_is_here(),
    )


def _measurements(plan: Plan, areas: Collection[Area], tell: Callable[[str], None]) -> Iterator[Measured]:
    with ExitStack() as stack:
        library = stack.enter_context(Peer()) if library_is_here() else None
        if Area.MATCHING in areas or Area.RANKING in areas:
            for kind, size in plan.matching:
                tell(f"matching and ranking, {size:,} {kind} slots")
                yield matching.measure(kind, size, plan, library)
        if Area.SCALAR in areas:
            tell("scalar evaluation")
            yield scalar.measure(plan, library)
        if Area.READING in areas:
            tell(f"reading, {plan.read:,} ads")
            yield reading.measure(plan, library)
    if Area.PLACING in areas or Area.SWAPPING in areas:
        tell(f"placing, {plan.applications:,} applications; swapping, {plan.queues:,} queues")
        yield placing.measure(plan)
    if Area.ADMISSION in areas or Area.CHARGING in areas:
        tell("admission and charging")
        yield charging.measure(plan)
    if Area.QUOTAS in areas:
        tell("resource quota sets")
        yield quotas.measure(plan)
    if Area.CYCLE in areas:
        for size in plan.cycles:
            tell(f"whole cycles, {size:,} slots")
            yield cycles.measure(size, plan)
    if Area.MEMORY in areas:
        tell(f"memory, {plan.memory:,} ads")
        yield memory.measure(plan, library=library is not None)
