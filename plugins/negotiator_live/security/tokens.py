"""Secrets of this client: tokens (IDTOKENS), the files that have them, and sessions.

A token is a JSON web token that ``condor_token_create`` makes. Only its header and its payload are ever sent; its signature is the secret that both
sides know. HTCondor derives the key K of a token from a constant: ``setup_seed`` in ``condor_auth_passwd.cpp``. A session has keys that were agreed
on, which spare the next connection to the same daemon the authentication.

As HTCondor's daemons do, files with secrets are not used if others could read or write them. Source: ``read_secure_file`` (``secure_file.cpp``).
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import stat
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import attrs

from negotiator.plugin import open_regular, printable
from negotiator_live.security.cipher import SessionKey, derived_key
from negotiator_live.wire.exchange import Deadline

if TYPE_CHECKING:
    from negotiator_live.wire.addresses import DaemonAddress


_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_CAPABILITY: Final = re.compile(r"([^\s]{1,1000})#(\[[^\]]{0,4000}\])([0-9a-zA-Z]{1,1000})")
_MOST: Final = 10_000  # sessions that are stored
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


class UnsafeFileError(OSError):
    """The file belongs to another user than this process or root, or other users may read or write it."""


def read_secret(file: Path, longest: int) -> bytes:
    """Return the content of a file.

    :param longest: bytes that it may have.
    :raises UnsafeFileError: it is not safe from other users.
    :raises OSError: it cannot be read, is no regular file, or is too long.
    """
    with os.fdopen(open_regular(file), "rb") as opened:
        status = os.fstat(opened.fileno())
        if problem := _problem(file, status):
            raise UnsafeFileError(problem)
        content = opened.read(longest + 1)
    if len(content) > longest:
        raise OSError(f"{file}: more than {longest} bytes")
    return content


def _problem(file: Path, status: os.stat_result) -> str:
    """Return why a file is not safe from other users, and what to do; "" if it is."""
    if status.st_mode & _OTHERS:
        mode = stat.S_IMODE(status.st_mode)
        return f"{file}: ignored, since other users may use it (mode {mode:04o}): chmod 600 {file}"
    if status.st_uid not in {0, os.geteuid()}:
        own = os.geteuid()
        return (
            f"{file}: ignored, since it belongs to the user id {status.st_uid}, not to root or to {own}, as which this"
            f" program runs: chown {own} {file}"
        )
    return ""


@attrs.frozen
class SecuritySession:
    """A session that can be resumed: the daemon knows it by its ``id``. Its ``repr`` shows nothing of the key or the id."""

    id: str = attrs.field(repr=False)
    key: SessionKey
    user: str = ""
    """Who this client is to the daemon."""
    commands: frozenset[int] = frozenset()
    """The commands that the daemon accepts in this session; empty if unknown."""
    lifetime: Deadline | None = None
    """When it ends; None if the daemon ends it."""

    @classmethod
    def of_capability(cls, text: str) -> Self | None:
        """Return the session that a claim id or a schedd's ``Capability`` stands for; None if it has no key.

        Its form is ``id#[policy]key``.
        """
        found = _CAPABILITY.fullmatch(text)
        return cls(found[1], derived_key(found[3].encode("ascii"))) if found else None

    @property
    def is_over(self) -> bool:
        """True if it must not be used any more."""
        return self.lifetime is not None and self.lifetime.remaining() <= 0


class SessionCache:
    """The sessions with all daemons, for use by several threads."""

    __slots__ = ("__sessions", "_lock")

    def __init__(self) -> None:
        self.__sessions: dict[tuple[str, int], SecuritySession] = {}
        self._lock = threading.Lock()

    def find(self, address: DaemonAddress, command: int) -> SecuritySession | None:
        """Return the session for a command; None if there is none that is still valid."""
        key = (str(address), command)
        with self._lock:
            session = self.__sessions.get(key)
            if session is not None and session.is_over:
                del self.__sessions[key]
                return None
            return session

    def store(self, address: DaemonAddress, command: int, session: SecuritySession) -> None:
        """Store a session for a command and the others that it is valid for."""
        with self._lock:
            for each in session.commands | {command}:
                self.__sessions[str(address), each] = session
            while len(self.__sessions) > _MOST:
                del self.__sessions[next(iter(self.__sessions))]

    def drop(self, address: DaemonAddress, session: SecuritySession) -> None:
        """Remove a session that its daemon does not know any more."""
        text = str(address)
        with self._lock:
            gone = [
                key for key, value in self.__sessions.items() if key[0] == text and value.id == session.id
            ]
            for key in gone:
                del self.__sessions[key]

    def clear(self) -> None:
        """Remove all sessions and their keys."""
        with self._lock:
            self.__sessions.clear()

    def __len__(self) -> int:
        return len(self.__sessions)

    def __repr__(self) -> str:
        return f"<SessionCache of {len(self)} entries>"


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
