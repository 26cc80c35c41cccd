"""Switches that are read from files before those of the command line: ``sge_qquota``, ``~/.sge_qquota``.

Source: qquota(1), FILES. Words are separated by white space and may be quoted, as on a command line. A line that begins with
``#`` is a comment, as in sge_request(5). ``-help`` has no effect here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import attrs

from negotiator.plugin import Source
from negotiator_quotasets.qquota.arguments import InvalidArgumentError, QquotaArguments, read_arguments

#: In the folder of the bundle, for everybody; in the home of who calls.
OF_ALL, OF_CALLER = "sge_qquota", ".sge_qquota"
_MAX_BYTES = 1 << 16


@attrs.frozen
class DefaultsError(Exception):
    """A file of switches that can't be read: where, and why. ``is_word`` where one of its words is no switch."""

    source: Source
    message: str
    is_word: bool = False

    def __str__(self) -> str:
        return f"{self.source}: {self.message}"


def read_defaults(bundle: Path, home: Path | None) -> QquotaArguments:
    """Read both files, those that are there; what both say adds up.

    :raises DefaultsError: one of them can't be read, or says what is no switch.
    """
    folders = ((bundle, OF_ALL), *([] if home is None else [(home, OF_CALLER)]))
    found = QquotaArguments()
    for folder, name in folders:
        found += _read(folder / name)
    return found


def _read(path: Path) -> QquotaArguments:
    words = list(_words(path, _text(path)))
    try:
        return read_arguments(word for word, _ in words)
    except InvalidArgumentError as error:
        raise DefaultsError(words[error.number][1], str(error), is_word=True) from None


def _text(path: Path) -> str:
    """What the file says; nothing where there is none, or something else than a file."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise DefaultsError(Source(str(path)), f"the file is longer than {_MAX_BYTES} bytes")
        return content.decode()
    except OSError as error:
        message = f"the file can't be read: {error.strerror or error}"
        raise DefaultsError(Source(str(path)), message) from None
    except UnicodeDecodeError:
        raise DefaultsError(Source(str(path)), "this is not UTF-8: save the file as UTF-8") from None


def _words(path: Path, text: str) -> Iterator[tuple[str, Source]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            continue
        source = Source(str(path), number)
        try:
            words = shlex.split(line)
        except ValueError:
            message = "a quote or a backslash has no end: write it on the same line"
            raise DefaultsError(source, message) from None
        for word in words:
            yield word, source
