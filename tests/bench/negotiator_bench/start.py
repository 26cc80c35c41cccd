"""The start of the program: the processor time of a process from its beginning to its end, with compiled modules.

None of the commands reads a pool. A process is run once before it is measured, so that all modules are compiled.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from typing import Final

from negotiator.bundle import default_bundle
from negotiator_bench.errors import ProcessFailedError
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.plan import Plan

HELP: Final = SpeedTarget("ours", at_most=0.1)
COMMAND: Final = SpeedTarget("ours", at_most=0.2)

#: The arguments of each command, and its target.
COMMANDS: Final = (
    (("--help",), HELP),
    (("plugins",), COMMAND),
    (("queues",), COMMAND),
    (("access", "--user", "sue"), COMMAND),
    (("place", "--user", "sue"), COMMAND),
    (("check", str(default_bundle())), COMMAND),
    (("qconf", "-sc"), COMMAND),
    (("expr", "eval", "1 + 1"), COMMAND),
)
_FEW: Final = 2  # of a quick run


def measure(plan: Plan) -> Measured:
    """Measure the seconds of each command."""
    with tempfile.TemporaryDirectory() as compiled:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NEGOTIATOR_")},
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": compiled,
        }
        figures = [
            Figure(
                Area.START,
                f"negotiator {arguments[0]}",
                "s",
                _seconds(arguments, environment, plan.repetitions),
                target=target if plan.judged else None,
            )
            for arguments, target in COMMANDS[: None if plan.judged else _FEW]
        ]
    return Measured(tuple(figures))


def _seconds(arguments: tuple[str, ...], environment: dict[str, str], repetitions: int) -> tuple[float, ...]:
    """Return the processor time of each repetition, after one that is not counted."""
    return tuple(_once(arguments, environment) for _ in range(repetitions + 1))[1:]


def _once(arguments: tuple[str, ...], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "negotiator", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise ProcessFailedError(f"negotiator {' '.join(arguments)}: {done.stderr[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
