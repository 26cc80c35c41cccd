"""The address file of a daemon, in which tools on the same host find it.

Source: ``drop_addr_file`` in HTCondor's ``daemon_core_main.cpp``; HTCondor manual, ``<SUBSYS>_ADDRESS_FILE``.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from negotiator.plugin import replace_file
from negotiator_live.versions import PLATFORM, VERSION


def write_address_file(path: str, address: str) -> None:
    """Write the address of this program into the address file, if there is to be one.

    :raises OSError: the file cannot be written.
    """
    if path:
        replace_file(Path(path), f"{address}\n{VERSION}\n{PLATFORM}\n".encode())


def remove_address_file(path: str) -> None:
    """Remove the address file, if there is to be one."""
    if path:
        with contextlib.suppress(OSError):
            Path(path).unlink()
