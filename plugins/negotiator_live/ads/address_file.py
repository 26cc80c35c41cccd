"""The address file of a daemon, in which tools on the same host find it.

Source: ``drop_addr_file`` in HTCondor's ``daemon_core_main.cpp``; HTCondor manual, ``<SUBSYS>_ADDRESS_FILE``.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from negotiator.plugin import replace_file
from negotiator_live.configured import configured
from negotiator_live.versions import PLATFORM, VERSION

_SETTING = "NEGOTIATOR_ADDRESS_FILE"


def write_address_file(address: str) -> None:
    """Write the address of this program into the address file, if the environment names one.

    :raises OSError: the file cannot be written.
    """
    if path := configured(_SETTING):
        replace_file(Path(path), f"{address}\n{VERSION}\n{PLATFORM}\n".encode())


def remove_address_file() -> None:
    """Remove the address file, if the environment names one."""
    if path := configured(_SETTING):
        with contextlib.suppress(OSError):
            Path(path).unlink()
