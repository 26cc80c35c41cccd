"""The configuration of a real pool."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import attrs

#: The daemons' folder, in the root folder of the pool.
LOCAL: Final = Path("pool")

_FOLDER: Final = Path(__file__).parent
_SHARED_PORT: Final = "USE_SHARED_PORT = True\nSHARED_PORT_PORT = @PORT@\n"


@attrs.frozen
class PoolSettings:
    """``mode`` is open (everyone is trusted) or secure (authentication and encryption are required).

    ``more`` is HTCondor configuration, read last. ``folders`` of this machine are seen in the pool's root folder too.
    """

    mode: str = "open"
    shared_port: bool = False
    more: str = ""
    folders: tuple[str, ...] = ()

    def text(self, port: int) -> str:
        """Return the configuration file of a pool whose collector has this port on 127.0.0.1."""
        parts = [(_FOLDER / "common.conf").read_text(), (_FOLDER / f"{self.mode}.conf").read_text()]
        text = "\n".join([*parts, _SHARED_PORT if self.shared_port else "", self.more])
        return text.replace("@DIR@", f"/{LOCAL}").replace("@PORT@", str(port))
