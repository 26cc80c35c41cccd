"""Use cases: the tokens of clients of the HTTP interface, and who they are.

A file has the SHA-256 of each token, never the token: it is random and has 256 bits, so that nobody finds it from its hash.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import secrets
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.subject import is_name
from negotiator.app.token_roles import Role
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.text import decoded
from negotiator.bundle.yaml_reader import read_yaml
from negotiator.errors import CommandError, InvalidCallError
from negotiator.files import check_trusted, open_regular, replace_file
from negotiator.hooks.administration import Caller
from negotiator.records import Problem, ScalarText, Severity

_PREFIX: Final = "negotiator_"
_BYTES: Final = 32
_DIGITS: Final = 64
_LARGEST: Final = 1 << 20  # bytes of a file
_MODE: Final = 0o640


@attrs.frozen
class TokenEntry:
    """An entry of a file: its user, groups (the primary one first) and role; ``expires`` is the last day in UTC, as 2027-01-31."""

    user: str
    role: Role
    sha256: ScalarText
    groups: tuple[str, ...] = ()
    expires: ScalarText | None = None

    @property
    def caller(self) -> Caller:
        """The user and its groups."""
        return Caller(self.user, self.groups)

    def is_valid(self, now: float) -> bool:
        """True before its end; ``now`` is in seconds since the epoch."""
        if self.expires is None:
            return True
        return dt.datetime.fromtimestamp(now, dt.UTC).date() <= dt.date.fromisoformat(self.expires.text)


@attrs.frozen
class _Entries:
    tokens: tuple[TokenEntry, ...] = ()


@attrs.frozen(eq=False)
class AccessTokens:
    """The tokens of a file, by their SHA-256."""

    entries: dict[str, TokenEntry] = attrs.field(factory=dict, repr=False)

    def identify(self, token: str, now: float) -> TokenEntry | None:
        """Return whose token it is; None if it is unknown or has ended."""
        return self.valid(_digest(token), now)

    def valid(self, sha256: str, now: float) -> TokenEntry | None:
        """Return the entry of the token with this hash (in lower case); None if it is unknown or has ended."""
        entry = self.entries.get(sha256)
        return entry if entry is not None and entry.is_valid(now) else None


def read_tokens(path: Path) -> AccessTokens:
    """Read a file of tokens.

    :raises CommandError: it cannot be read, or an entry is invalid: file, line and column are in the message.
    :raises UntrustedError: another user than root and the caller may have written it.
    """
    entries, problems = _read(path, _content(path))
    if problems:
        raise CommandError("; ".join(map(str, problems)))
    return AccessTokens({entry.sha256.text.lower(): entry for entry in entries.tokens})


def _content(path: Path) -> bytes:
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            check_trusted(path, os.fstat(opened.fileno()))
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise CommandError(f"{path}: cannot read the tokens: {error.strerror or error}") from None
    if len(content) > _LARGEST:
        raise CommandError(f"{path}: the file of tokens is larger than {_LARGEST} bytes")
    return content


def _read(path: Path, content: bytes) -> tuple[_Entries, list[Problem]]:
    """Return the entries of a file, and its problems."""
    file, broken = decoded(str(path), content)
    if broken is not None:
        return _Entries(), [broken]
    root, problems = read_yaml(file)
    if root is None:
        return _Entries(), list(problems)
    builder = ObjectBuilder(lambda _: ("a path is not expected", ""))
    built = builder.value(root, _Entries)
    entries = _Entries() if built is INVALID else built
    return entries, [
        *problems,
        *builder.problems,
        *(each for entry in entries.tokens for each in _problems(entry)),
    ]


def _problems(entry: TokenEntry) -> list[Problem]:
    found = []
    digest = entry.sha256
    if len(digest.text) != _DIGITS or not set(digest.text.lower()) <= set("0123456789abcdef"):
        found.append(_error(digest, f"a SHA-256 has {_DIGITS} hexadecimal digits"))
    if not is_name(entry.user):
        found.append(_error(digest, f"invalid name of a user: {entry.user[:40]!r}"))
    if entry.expires is not None:
        try:
            dt.date.fromisoformat(entry.expires.text)
        except ValueError:
            found.append(_error(entry.expires, "write a day, as 2027-01-31"))
    return found


def _error(text: ScalarText, message: str) -> Problem:
    return Problem(Severity.ERROR, text.source, message)


def make_token(path: Path, user: str, groups: tuple[str, ...], role: Role, last_day: dt.date | None) -> str:
    """Make a token, add its entry to a file (made if it does not exist), and return the token, which is stored nowhere.

    :raises InvalidCallError: the name of the user or a group is invalid.
    :raises CommandError, UntrustedError: the file cannot be read or written; it is unchanged.
    """
    for name in (user, *groups):
        if not is_name(name):
            raise InvalidCallError(f"invalid name {name[:40]!r}: at most 200 printable characters")
    before, status = "", None
    if path.exists():
        read_tokens(path)
        before, status = path.read_text("utf-8"), path.stat()
    token = _PREFIX + secrets.token_urlsafe(_BYTES)
    lines = [f"  - user: {_quoted(user)}", f"    role: {role}", f"    sha256: {_quoted(_digest(token))}"]
    if groups:
        lines.append(f"    groups: [{', '.join(map(_quoted, groups))}]")
    if last_day is not None:
        lines.append(f"    expires: {last_day.isoformat()}")
    head = (
        before
        if before.strip()
        else "# Tokens of clients of negotiator's HTTP interface; each is known by its SHA-256 only.\ntokens:\n"
    )
    after = head + ("" if head.endswith("\n") else "\n") + "\n".join(lines) + "\n"
    try:
        replace_file(path, after.encode(), status, mode=_MODE)
    except OSError as error:
        raise CommandError(f"{path}: cannot write the tokens: {error.strerror or error}") from None
    return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
