"""Tokens (IDTOKENS): JSON web tokens that ``condor_token_create`` makes, read from files.

Only the header and the payload of a token are ever sent; its signature is the secret that both sides know.
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
from negotiator_live.security.keys import SessionKey
from negotiator_live.security.secret_files import UnsafeFileError, read_secret

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
