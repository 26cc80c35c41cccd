"""The keys with which a pool signs its tokens.

Source: ``getTokenSigningKey`` (``store_cred.cpp``), ``read_secure_file``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import attrs

from negotiator_live.security.cipher import SessionKey, derived_key
from negotiator_live.security.secret_files import read_secret

POOL: Final = "POOL"
"""The name of the key that a pool signs with unless another one is named."""

_KEY_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)
_LONGEST: Final = 1 << 16
_SCRAMBLE: Final = b"\xde\xad\xbe\xef"


@attrs.frozen
class SigningKeys:
    """Signing keys: a file, which is the key POOL, or a folder with a file for each key. They are read anew each time.

    A file that other users can read or write, or that belongs to another user than this process or root, is no key.
    """

    path: Path

    def names(self) -> tuple[str, ...]:
        """Return the names of all keys that can be read, in their order."""
        return tuple(sorted(name for name in self._candidates() if self._read(name) is not None))

    def find(self, key_id: str) -> SessionKey | None:
        """Return the key that signs tokens with this key id; None without one."""
        raw = self._read(key_id) if key_id in self._candidates() else None
        if not raw:
            return None
        secret = bytes(byte ^ _SCRAMBLE[place % 4] for place, byte in enumerate(raw))
        # HTCondor doubles the key of the pool, which has been a password.
        return derived_key(secret * 2 if key_id == POOL else secret, info=b"master jwt")

    def problem(self) -> str:
        """Return why there are no keys; "" if there are some."""
        if self.names():
            return ""
        return f"{self.path}: no signing key that only its owner, root or this user, can read"

    def _candidates(self) -> frozenset[str]:
        if not self.path.is_dir():
            return frozenset({POOL})
        try:
            return frozenset(each.name for each in self.path.iterdir() if _KEY_ID.fullmatch(each.name))
        except OSError:
            return frozenset()

    def _read(self, key_id: str) -> bytes | None:
        file = self.path / key_id if self.path.is_dir() else self.path
        try:
            return read_secret(file, _LONGEST)
        except OSError:
            return None
