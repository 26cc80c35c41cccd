"""What the ads of one hostile user (or one hostile host) add to a cycle, beside as many plain ads.

Each pool is read and negotiated in a process of its own, from files, as ``negotiator run`` does. Run as a module this is
that process: it prints the seconds of the processor and the most resident bytes as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from negotiator.bundle import default_bundle, load_bundle
from negotiator.cycle.loop import run_cycle
from negotiator.hooks.records import Cycle
from negotiator.pool.reading import read_pool
from negotiator_bench.attacks import ATTACKS
from negotiator_bench.errors import PeerError
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.jobs import CLASSES, job_class
from negotiator_bench.plan import Plan
from negotiator_bench.slots import plain_slot, texts

SECONDS: Final = SpeedTarget("ours", at_most=2)
MEGABYTES: Final = SpeedTarget("ours", at_most=256)

_NOW: Final = 1_700_000_000.0
_PATIENCE: Final = 600  # seconds of one process, after which an attack has succeeded


def measure(plan: Plan) -> Measured:
    """Measure the seconds and the megabytes that each attack adds to a cycle."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "slots.ad").write_text("".join(texts(plain_slot, range(plan.hostile_slots))))
        (folder / "jobs.ad").write_text("".join(f"{job_class(number)}\n" for number in range(CLASSES)))
        return Measured(tuple(_figures(folder, plan)))


def _figures(folder: Path, plan: Plan) -> Iterator[Figure]:
    for attack, make in ATTACKS.items():
        made = make()
        hostile, plain = folder / "hostile.ad", folder / "plain.ad"
        hostile.write_text(made.text())
        plain.write_text(made.as_plain().text())
        own, other = _cycle(folder, hostile), _cycle(folder, plain)
        facts = {"slots": plan.hostile_slots, "ads": len(made.jobs) + len(made.slots)}
        for quantity, unit, target in (("seconds", "s", SECONDS), ("megabytes", "MB", MEGABYTES)):
            yield Figure(
                Area.HOSTILE,
                f"{attack}: {quantity} more",
                unit,
                (own[quantity] - other[quantity],),
                target=target if plan.judged else None,
                facts=facts,
            )


def _cycle(folder: Path, ads: Path) -> dict[str, float]:
    """Return the figures of a cycle over the pool in a folder with some more ads."""
    files = map(str, (folder / "slots.ad", folder / "jobs.ad", ads))
    command = [sys.executable, "-m", "negotiator_bench.hostile", *files]
    try:
        env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run(command, env=env, capture_output=True, check=True, timeout=_PATIENCE)  # noqa: S603 - our own module
    except subprocess.SubprocessError as error:
        raise PeerError(f"{ads.name}: {error}") from error
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _measure_here(paths: list[Path]) -> dict[str, float]:
    bundle = load_bundle(default_bundle())
    start = time.process_time()
    run_cycle(read_pool(paths), bundle, Cycle(1, _NOW, bundle.digest))
    seconds = time.process_time() - start
    return {"seconds": seconds, "megabytes": _peak_megabytes()}


def _peak_megabytes() -> float:
    """Return the most resident megabytes of this process so far; what getrusage gives includes those of its parent."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_measure_here([Path(path) for path in sys.argv[1:]])))
