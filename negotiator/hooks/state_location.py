"""Where a state is: a folder, and a PostgreSQL database if several central managers share the state."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import attrs

from negotiator.defaults import STATE_TIMEOUT

#: Every part in its own characters: a password with another one would be taken for a part that is printed.
_URL: Final = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:@/?#\s]*)(?::(?P<password>[^@/?#\s]*))?@)?(?P<hosts>[^@/?#\s]*)"
    r"(?:/(?P<database>[^@/?#\s]*))?(?:\?(?P<parameters>[^#\s]*))?"
)
_SECRET: Final = re.compile(r"((?:^|&)[^=&]*password[^=&]*=)([^&]*)", re.IGNORECASE)
_HIDDEN: Final = "***"


class InvalidDatabaseUrlError(ValueError):
    """The URL of a database is invalid; the message does not have the URL, which may have a password."""


@attrs.frozen
class DatabaseUrl:
    """The URL of a PostgreSQL database. Its text, for messages, has no password; ``secret`` is all of it.

    ``timeout``: seconds after which the database is given up if it does not answer, and a leader loses the state if it is silent.

    :raises InvalidDatabaseUrlError: it is invalid.
    """

    secret: str = attrs.field(repr=False)
    timeout: float = STATE_TIMEOUT

    def __attrs_post_init__(self) -> None:
        if _URL.fullmatch(self.secret) is None:
            raise InvalidDatabaseUrlError(
                "expected postgresql://USER@HOST:PORT/DATABASE; other characters are written as %XX"
            )

    def __str__(self) -> str:
        """Return the URL with ``***`` for each password."""
        found = self._parts
        user = found["user"]
        if found["password"] is not None:
            user = f"{user}:{_HIDDEN}"
        text: str = "postgresql://" + (f"{user}@" if user is not None else "") + found["hosts"]
        if found["database"] is not None:
            text += f"/{found['database']}"
        if found["parameters"] is not None:
            text += "?" + _SECRET.sub(lambda each: each[1] + _HIDDEN, found["parameters"])
        return text

    @property
    def has_password(self) -> bool:
        """True if the URL itself has a password."""
        return bool(self._passwords)

    def redacted(self, text: str) -> str:
        """Return a text without the passwords of the URL, such as a message of the database."""
        for password in self._passwords:
            for form in {password, unquote(password)}:
                text = text.replace(form, _HIDDEN)
        return text

    @property
    def _passwords(self) -> tuple[str, ...]:
        found = self._parts
        parameters = (each[1] for each in _SECRET.findall(found["parameters"] or ""))
        return tuple(filter(None, (found["password"], *parameters)))

    @property
    def _parts(self) -> dict[str, Any]:
        found = _URL.fullmatch(self.secret)
        return found.groupdict() if found else {}


@attrs.frozen
class StateLocation:
    """The folder of a state, with the files of one process, and the database of its tables; None is a file in the folder.

    ``negotiator`` is the name of one of several negotiators of a pool, which has tables of its own in the database; empty for the only one.
    """

    folder: Path
    database: DatabaseUrl | None = None
    negotiator: str = ""

    def __str__(self) -> str:
        """Return the place of the tables, for messages."""
        place = str(self.database or self.folder)
        return f"{place}, negotiator {self.negotiator}" if self.negotiator else place
