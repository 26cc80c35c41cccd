"""The beginning of the program, also of ``python -m negotiator``."""

from __future__ import annotations

import gc
import os
import signal
from types import FrameType

_INTERRUPTED = 130  # ExitCode.INTERRUPTED, whose module is not imported yet
#: New objects between two collections: a start makes hundreds of classes, none of them in garbage.
_NEW_OBJECTS = 50_000


def _end(number: int, frame: FrameType | None) -> None:
    """End the process at once: while modules are imported there is nothing to clean up, and nobody to catch an exception."""
    del number, frame
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)


def main() -> None:
    """Run the program; a Ctrl-C while its modules are imported ends it as quietly as a later one."""
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handled:
        signal.signal(signal.SIGINT, _end)
    from negotiator.cli import main as run_command  # noqa: PLC0415 - takes most of the time of the start

    if handled:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run_command()
    except KeyboardInterrupt:  # outside the commands, which have their own message
        os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
