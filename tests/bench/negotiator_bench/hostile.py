"""What the ads of one hostile user (or one hostile host) add to a cycle, beside as many plain ads.

Each pool is negotiated by ``negotiator run`` in a process of its own: two cycles with a state and an audit log, so that the
second one reads the journal of the first. Run as a module this is that process: it prints the seconds of the processor, the
most resident memory, and the size of the audit log of a cycle as JSON.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Final

from negotiator.cli import main
from negotiator_bench.attacks import ATTACKS, SEED
from negotiator_bench.errors import ProcessFailedError
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.jobs import CLASSES, job_class
from negotiator_bench.plan import Plan
from negotiator_bench.slots import plain_slot, texts

SECONDS: Final = SpeedTarget("ours", at_most=2)
MEGABYTES: Final = SpeedTarget("ours", at_most=256)
#: Of the audit log of a cycle: what the reasons of one owner may take, and the record of each denial beside its reasons.
_REASONS_KILOBYTES: Final = 200
_RECORD_KILOBYTES: Final = 1

_NOW: Final = 1_700_000_000
_CYCLES: Final = 2
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
        if plan.attacks is not None and attack not in plan.attacks:
            continue
        made = make()
        hostile, plain = folder / "hostile.ad", folder / "plain.ad"
        hostile.write_text(made.text())
        plain.write_text(made.as_plain().text())
        own, other = _cycle(folder, hostile), _cycle(folder, plain)
        audit = SpeedTarget("ours", at_most=_REASONS_KILOBYTES + _RECORD_KILOBYTES * len(made.jobs))
        facts = {"slots": plan.hostile_slots, "ads": len(made.jobs) + len(made.slots), "seed": SEED}
        for quantity, unit, target in (*_QUANTITIES, ("audit kilobytes", "KB", audit)):
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
        raise ProcessFailedError(f"{ads.name}: {error}") from error
    found: dict[str, float] = json.loads(done.stdout)
    return found


_QUANTITIES: Final = (
    ("seconds", "s", SECONDS),
    ("megabytes", "MB", MEGABYTES),
)


def _measure_here(paths: list[str]) -> dict[str, float]:
    """Run the cycles, and return the figures of one of them."""
    with tempfile.TemporaryDirectory() as name:
        audit = Path(name, "audit")
        options = ["--audit-log", str(audit), "--state", str(Path(name, "state"))]
        options += ["--cycles", str(_CYCLES), "--now", str(_NOW)]
        start = time.process_time()
        with redirect_stdout(io.StringIO()), suppress(SystemExit):
            main(["run", *options, *paths], standalone_mode=False)
        seconds = time.process_time() - start
        size = sum(file.stat().st_size for file in audit.iterdir())
    return {
        "seconds": seconds / _CYCLES,
        "megabytes": _peak_megabytes(),
        "audit kilobytes": size / 1000 / _CYCLES,
    }


def _peak_megabytes() -> float:
    """Return the most resident megabytes of this process so far; what getrusage gives includes those of its parent."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_measure_here(sys.argv[1:])))
