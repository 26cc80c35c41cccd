"""Authentication by the file system (FS): the daemon names a directory, and who can make it is its owner.

The daemon must run on this host. Source: ``condor_auth_fs.cpp``.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

import attrs

from negotiator_live.wire.channel import Channel

_NAME: Final = re.compile(r"FS_([0-9A-Fa-f.:\[\]]+)_(\d{1,5})_[A-Za-z0-9]+_?", re.ASCII)
_SHARED_PORT: Final = "?sock="
_FAILED: Final = -1


@attrs.frozen
class FilesystemMethod:
    """Makes the directory that a daemon asks for, in ``directory`` only.

    ``root`` is where the daemon sees ``/``; ``owner`` is the user id that the directory gets, if this process may give it
    away (HTCondor's daemons authenticate as ``condor``).
    """

    directory: str = "/tmp"  # noqa: S108 - where HTCondor's daemons ask for it (FS_LOCAL_DIR)
    root: Path = Path("/")
    owner: int | None = None

    def authenticate(self, channel: Channel) -> bool:
        """Prove who this is.

        :raises DaemonError: the daemon does not keep to the protocol.
        """
        name = channel.get_string()
        channel.end_received()
        address = channel.packets.peer_address()
        extension = _extension(address, channel.exchange.address.shared_port_id) if name.endswith("_") else ""
        made = self._make(name, extension, address)
        try:
            channel.put_int(0 if made else _FAILED)
            if extension:
                channel.put_string(extension)
            channel.end_message()
            result = channel.get_int()
            channel.end_received()
        finally:
            if made is not None:
                with contextlib.suppress(OSError):  # the daemon may have removed it
                    made.rmdir()
        return made is not None and result == 0

    def _make(self, name: str, extension: str, address: tuple[str, int]) -> Path | None:
        """Make the directory; return None if a daemon must not request it, or it cannot be made."""
        parent, _, last = name.rpartition("/")
        found = _NAME.fullmatch(last)
        if parent != self.directory.rstrip("/") or found is None or "/" in extension:
            return None
        if not extension and (found[1].strip("[]"), int(found[2])) != address[:2]:
            return None  # it was asked for over another connection
        path = self.root / (name + extension).lstrip("/")
        try:
            path.mkdir(mode=0o700)
        except OSError:
            return None
        try:
            if self.owner is not None:
                os.chown(path, self.owner, -1)
        except OSError:
            path.rmdir()
            return None
        return path


def _extension(address: tuple[str, int], shared_port_id: str) -> str:
    """Return this side's view of the daemon's address, which binds the name to the connection."""
    host, port = address[:2]
    text = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return text + (_SHARED_PORT + shared_port_id if shared_port_id else "")
