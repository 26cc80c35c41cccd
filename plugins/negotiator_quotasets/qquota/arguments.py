"""The switches of qquota on a command line, in the file ``sge_qquota`` of the bundle for everybody, and in ``~/.sge_qquota`` of the caller.

Source: qquota(1), FILES; "Resource Quota Sets", qquota: the command line overrides flags of the files. In the recorded sessions of Grid
Engine it adds to the file for everybody. A switch with a list takes all arguments up to the next switch; names are separated by commas.
Lists of a repeated switch add up. A switch without names has no effect. Arguments in files are separated by white space and may be quoted,
as on a command line; a line that begins with ``#`` is a comment, as in sge_request(5), and ``-help`` has no effect.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs

from negotiator.plugin import NegotiatorError, Source

#: The switches with a list, and the field of ``RowSelection`` that they set.
LISTS = {"-h": "hosts", "-l": "resources", "-u": "users", "-pe": "pes", "-P": "projects", "-q": "queues"}
HELP, XML = "-help", "-xml"
_SEPARATORS = re.compile(r"[,\s]+")
#: In the folder of the bundle, for everybody; in the home of the caller.
OF_ALL, OF_CALLER = "sge_qquota", ".sge_qquota"
_MAX_BYTES = 1 << 16


class InvalidArgumentError(NegotiatorError, ValueError):
    """An argument that is neither a switch nor belongs to one; ``number`` is its index."""

    def __init__(self, argument: str, number: int) -> None:
        super().__init__(f'invalid option argument "{argument}"')
        self.number = number


@attrs.frozen
class QquotaArguments:
    """The lists of names and wildcards, by the values of ``LISTS``, and the switches without a list."""

    lists: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    switches: frozenset[str] = frozenset()

    def __add__(self, more: QquotaArguments) -> QquotaArguments:
        names = {key: (*self.names(key), *more.names(key)) for key in (*self.lists, *more.lists)}
        return QquotaArguments(names, self.switches | more.switches)

    def overridden_by(self, more: QquotaArguments) -> QquotaArguments:
        """Return these arguments with the lists of ``more`` in place of the same lists here; empty lists do not count."""
        names = {key: more.names(key) or names for key, names in {**more.lists, **self.lists}.items()}
        return QquotaArguments(names, self.switches | more.switches)

    def names(self, key: str) -> tuple[str, ...]:
        """Return the names for one of the values of ``LISTS``."""
        return self.lists.get(key, ())


def read_arguments(arguments: Iterable[str]) -> QquotaArguments:
    """Parse switches and their lists.

    :raises InvalidArgumentError: an argument is neither a switch nor belongs to one.
    """
    lists: dict[str, list[str]] = {}
    switches = set[str]()
    names: list[str] | None = None
    for number, argument in enumerate(arguments):
        if argument in LISTS:
            names = lists.setdefault(LISTS[argument], [])
        elif argument in {HELP, XML}:
            switches.add(argument)
            names = None
        elif names is None or argument.startswith("-"):
            raise InvalidArgumentError(argument, number)
        else:
            names += split_names(argument)
    return QquotaArguments({key: tuple(names) for key, names in lists.items()}, frozenset(switches))


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of a list."""
    return tuple(filter(None, _SEPARATORS.split(text)))


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
