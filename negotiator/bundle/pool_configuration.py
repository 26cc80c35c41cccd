"""The pool's own configuration, as one file of a bundle: settings of HTCondor's form, macros replaced, each with its place.

The source of the pool brings them (``PoolSource.configuration``). They take precedence over the HTCondor-style files of the
bundle, and ``pool.yaml`` over them. Those that have a reader are stored with the bundle, so that its digest covers them, and a
recorded cycle is decided under the same ones.
"""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import attrs

from negotiator.bundle.condor_lines import Definition
from negotiator.bundle.text import LocatedText, SourceText
from negotiator.files import open_regular, replace_file
from negotiator.hooks.pool_source import PoolSetting
from negotiator.records import Source

#: The name of the file among those of a bundle.
POOL_FILE: Final = "condor_config.pool"


class AskPool(enum.Enum):
    """Whether a bundle is loaded with the present configuration of its pool."""

    NO = "no"  # with the one that is stored with it, if there is one
    SERVE = "serve"
    CHECK = "check"


_PLACE: Final = re.compile(r"# (.*?)(?::(\d{1,9}))?")
_MODE: Final = 0o640
_MOST: Final = 1 << 24  # bytes
_HEAD: Final = "# The settings of the pool's configuration that the bundle reads, macros replaced.\n"


@attrs.frozen(eq=False)
class _SettingText(SourceText):
    """One setting as a line of the file where the pool has it."""

    line: int = 0

    def place(self, index: int) -> Source:
        """Return the place of a character in the pool's file."""
        return (
            Source(self.name, self.line, min(index, len(self.text)) + 1) if self.line else Source(self.name)
        )

    def excerpt(self, line: int) -> str:
        """Return the setting as one line."""
        return self.text if line == self.line else ""


def definitions(settings: Iterable[PoolSetting]) -> Iterator[Definition]:
    """Yield settings as definitions whose problems have the place where the pool has them."""
    for each in settings:
        start = len(each.name) + 3
        shown = each.value.replace("\n", " ")
        file = _SettingText(each.source.file, f"{each.name} = {shown}", line=each.source.line)
        value = LocatedText(each.value, file, range(start, start + len(each.value)), start)
        yield Definition(each.name, 0, value)


def stored(settings: Iterable[PoolSetting]) -> bytes:
    """Return settings as a file: each with its place in a comment above; of several lines between ``@=`` and its tag."""
    lines = [_HEAD]
    for each in sorted(settings, key=lambda setting: setting.name.lower()):
        place = f"{each.source.file}:{each.source.line}" if each.source.line else each.source.file
        tag = "end"
        while f"@{tag}" in each.value:
            tag += "_"
        text = f"= {each.value}" if "\n" not in each.value else f"@={tag}\n{each.value}\n@{tag}"
        lines.append(f"# {place}\n{each.name} {text}\n")
    return "".join(lines).encode(errors="replace")


def restored(file: SourceText) -> Iterator[PoolSetting]:
    """Yield the settings of a file that ``stored`` made; what has another form is left out."""
    lines = iter(file.text.split("\n"))
    source = Source(file.name)
    for line in lines:
        if place := _PLACE.fullmatch(line):
            source = Source(place[1], int(place[2] or 0))
            continue
        name, _, value = line.partition(" ")
        if value.startswith("@="):
            end = f"@{value[2:]}"
            value = "\n".join(iter(lambda: next(lines, end), end))  # noqa: B023 - used at once
        elif not value.startswith("="):
            continue
        else:
            value = value[2:]
        yield PoolSetting(name, value, source)


def store_configuration(folder: Path, content: bytes | None) -> None:
    """Write the pool's configuration with which a negotiator runs into the folder of its state; remove the file without one.

    :raises OSError: it cannot be written.
    """
    if content is None:
        (folder / POOL_FILE).unlink(missing_ok=True)
    else:
        replace_file(folder / POOL_FILE, content, mode=_MODE)


def stored_configuration(folder: Path) -> dict[str, bytes]:
    """Return the file that ``store_configuration`` wrote, by its name in a bundle; nothing without one."""
    try:
        with os.fdopen(open_regular(folder / POOL_FILE), "rb") as opened:
            return {POOL_FILE: opened.read(_MOST)}
    except OSError:
        return {}
