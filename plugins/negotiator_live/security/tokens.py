"""Tokens (IDTOKENS): JSON web tokens that ``condor_token_create`` makes, read from files.

Only the header and the payload of a token are ever sent; its signature is the secret that both sides know. HTCondor derives the key K of a
token from a constant: ``setup_seed`` in ``condor_auth_passwd.cpp``.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, Self

import attrs

from negotiator.plugin import printable
from negotiator_live.security.cipher import SessionKey
from negotiator_live.security.secret_files import UnsafeFileError, read_secret

SEED_K: Final = bytes.fromhex(
    "3e4a502047d5f4e5dc7c69bb5210cbb6167add8084f7dd9ef3ad2cca71d283dd114a4fbb7b1ee90adfa862c44304de54"
    "73a3172f735c2cbb6e775b5d40d39face873182523f9252b623be0d4b167a3a8040cacfee9ee3da02c0abbf4d9d8b11f"
    "89004c943923ce5d9508bb3f04bc66a3fa20a13a416c5e6f4e0d3187d45fc78335c5e485db2c5a3717970cc26e7b6b9d"
    "1965b47a67df77a31f22f08a6c0ba57097a21a9ca7c60424f72739ab5cb915a4185bd109828e35e42108ab851c08a3df"
    "fde0e3b06f3d3938cdad6df6ef9a6f6dc2cb74f0228512eb7a3d6823010684b015c12ac3014c4f9f938e384dad1e3bd7"
    "45ff8c141fd70b465ba8af5d1b98b4b1"
)
_LONGEST: Final = 1 << 16
_IGNORED: Final = ("#", ".")  # comments; hidden files
_BACKUP: Final = ("~", ".rpmsave", ".rpmnew", ".dpkg-old", ".dpkg-dist", ".dpkg-new")


@attrs.frozen
class Token:
    """A token; its ``repr`` shows neither the signature nor the text."""

    subject: str
    issuer: str
    key_id: str
    expires: float | None
    signed: str = attrs.field(repr=False)
    """Header and payload, as they are sent."""
    signature: SessionKey

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the token of a text, None if it is invalid."""
        parts = text.strip().split(".")
        if len(parts) != 3:
            return None
        try:
            header, payload = (json.loads(_decoded(part)) for part in parts[:2])
            signature = _decoded(parts[2])
        except (ValueError, binascii.Error, RecursionError):
            return None
        if not isinstance(header, dict) or not isinstance(payload, dict) or not signature:
            return None
        subject = payload.get("sub") or payload.get("jti")
        names = (subject, payload.get("iss", ""), header.get("kid"))
        expires = payload.get("exp")
        if not all(isinstance(name, str) for name in names) or not subject or not header.get("kid"):
            return None
        if expires is not None and (isinstance(expires, bool) or not isinstance(expires, int | float)):
            return None
        subject, issuer, key_id = map(str, names)
        if not subject.isprintable():
            return None
        return cls(subject, issuer, key_id, expires, ".".join(parts[:2]), SessionKey(signature))

    def serves(self, trust_domain: str, key_ids: Collection[str]) -> bool:
        """True if a daemon of this trust domain, with these signing keys (any if empty), may accept the token."""
        return (not trust_domain or self.issuer == trust_domain) and (not key_ids or self.key_id in key_ids)


@attrs.frozen
class TokenFiles:
    """Where tokens are: files, and folders of them (as ``/etc/condor/tokens.d``). They are read anew each time.

    A file that is not safe from other users is ignored, as by HTCondor.
    """

    paths: tuple[Path, ...] = (Path("/etc/condor/tokens.d"),)

    def find(self, trust_domain: str, key_ids: Collection[str]) -> Token | None:
        """Return the first token that serves for a daemon, in the order of the files' names; None without one."""
        return next((token for token in self._tokens() if token.serves(trust_domain, key_ids)), None)

    def problems(self) -> tuple[str, ...]:
        """Return why files are ignored although they may have tokens, and what to do."""
        found = []
        for path in self.paths:
            for file in _files(path):
                try:
                    read_secret(file, _LONGEST)
                except UnsafeFileError as error:
                    found.append(printable(str(error)))
                except OSError:
                    continue
        return tuple(found)

    def _tokens(self) -> Iterator[Token]:
        for path in self.paths:
            for file in _files(path):
                for line in _text(file).splitlines():
                    if not line.startswith("#") and (token := Token.parse(line)):
                        yield token


def _files(path: Path) -> list[Path]:
    try:
        found = sorted(path.iterdir()) if path.is_dir() else [path]
    except OSError:
        return []
    return [each for each in found if not each.name.startswith(_IGNORED) and not each.name.endswith(_BACKUP)]


def _text(file: Path) -> str:
    """Return the text of a token file; "" if it cannot be read, is no regular file, is too long, or not safe."""
    try:
        return read_secret(file, _LONGEST).decode("ascii", "replace")
    except OSError:
        return ""


def _decoded(part: str) -> bytes:
    return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
