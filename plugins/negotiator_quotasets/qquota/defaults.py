"""Default switches: the file ``sge_qquota`` of the bundle for everybody, and ``~/.sge_qquota`` of the caller.

Source: qquota(1), FILES; "Resource Quota Sets", qquota: the command line overrides flags of the files. In the recorded sessions
of Grid Engine it adds to the file for everybody. Arguments are separated by white space and may be quoted, as on a command line. A line that begins with
``#`` is a comment, as in sge_request(5). ``-help`` has no effect here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import attrs

from negotiator.plugin import NegotiatorError, Source
from negotiator_quotasets.qquota.arguments import InvalidArgumentError, QquotaArguments, read_arguments

#: In the folder of the bundle, for everybody; in the home of the caller.
OF_ALL, OF_CALLER = "sge_qquota", ".sge_qquota"
_MAX_BYTES = 1 << 16


@attrs.frozen
class DefaultsError(NegotiatorError):
    """An invalid file of default switches; ``is_argument`` if one of its arguments is invalid."""

    source: Source
    message: str
    is_argument: bool = False

    def __str__(self) -> str:
        return f"{self.source}: {self.message}"


def with_defaults(arguments: QquotaArguments, bundle: Path, home: Path | None) -> QquotaArguments:
    """Return the arguments of a command line with the defaults of both files that exist.

    A list of the command line overrides that of the caller's file; the lists of the file for everybody come first.

    :raises DefaultsError: unreadable file, or invalid argument.
    """
    of_caller = QquotaArguments() if home is None else _read(home / OF_CALLER)
    return _read(bundle / OF_ALL) + of_caller.overridden_by(arguments)


def _read(path: Path) -> QquotaArguments:
    arguments = list(_arguments(path, _text(path)))
    try:
        return read_arguments(argument for argument, _ in arguments)
    except InvalidArgumentError as error:
        raise DefaultsError(arguments[error.number][1], str(error), is_argument=True) from None


def _text(path: Path) -> str:
    """Return the contents of a file; empty if it is missing or not a regular file."""
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


def _arguments(path: Path, text: str) -> Iterator[tuple[str, Source]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            continue
        source = Source(str(path), number)
        try:
            arguments = shlex.split(line)
        except ValueError:
            message = "unclosed quote or backslash: close it on the same line"
            raise DefaultsError(source, message) from None
        for argument in arguments:
            yield argument, source
