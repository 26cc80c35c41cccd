"""The plugins of installed distributions, by their entry points.

Importing ``importlib.metadata`` takes a tenth of the start of a short command. So the files ``entry_points.txt`` and ``METADATA`` of folders
``*.dist-info`` on the path are read without it. Wherever it may find something else, such as eggs, it is called. Source: "Entry points specification" and "Recording installed projects" of the Python packaging user guide.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from functools import reduce
from importlib.machinery import PathFinder
from typing import Final, NamedTuple

GROUP: Final = "negotiator"

_VALUE: Final = re.compile(r"([\w.]+)\s*(?::\s*([\w.]+)\s*)?")
_HEADER: Final = re.compile(r"^(Name|Version): *(\S.*?) *$", re.MULTILINE)
_SEPARATORS: Final = re.compile(r"[-_.]+")
_EGG: Final = (".egg", ".egg-info", "EGG-INFO")


class InstalledPlugin(NamedTuple):
    """An entry point of the group, with the name and the version of its distribution; empty if they are unknown."""

    name: str
    value: str
    distribution: str = ""
    version: str = ""

    def load(self) -> object:
        """Import the plugin.

        :raises Exception: any exception of its code, or of Python if there is no such module or attribute.
        """
        found = _VALUE.fullmatch(self.value.strip())
        if found is None:  # with extras, or invalid
            from importlib.metadata import EntryPoint  # noqa: PLC0415 - takes long

            return EntryPoint(self.name, self.value, GROUP).load()
        module = importlib.import_module(found[1])
        return reduce(getattr, (found[2] or "").split(".") if found[2] else (), module)


class _UnsureError(Exception):
    """``importlib.metadata`` may find something else."""


def installed_plugins() -> list[InstalledPlugin]:
    """Return the entry points of all distributions.

    :raises Exception: any exception of ``importlib.metadata`` for a broken distribution.
    """
    try:
        return list(_read())
    except (_UnsureError, OSError, UnicodeDecodeError):
        return list(_found())


def _found() -> Iterator[InstalledPlugin]:
    """Yield what ``importlib.metadata`` finds. A distribution parses its metadata anew each time, so each is asked once."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes long

    known: dict[int, tuple[str, str]] = {}
    for entry in entry_points(group=GROUP):
        if entry.dist is None:
            yield InstalledPlugin(entry.name, entry.value)
            continue
        if id(entry.dist) not in known:
            metadata = entry.dist.metadata
            known[id(entry.dist)] = metadata["Name"], metadata["Version"]
        yield InstalledPlugin(entry.name, entry.value, *known[id(entry.dist)])


def _read() -> Iterator[InstalledPlugin]:
    """Yield what is in the folders of the path; the first distribution of each name counts."""
    for finder in sys.meta_path:
        if finder is not PathFinder and hasattr(finder, "find_distributions"):
            raise _UnsureError
    seen: set[str] = set()
    for folder in _folders():
        name = _SEPARATORS.sub("_", os.path.basename(folder).partition("-")[0]).lower()  # noqa: PTH119 - as fast as can be
        if name not in seen:
            seen.add(name)
            yield from _of_distribution(folder)


def _folders() -> Iterator[str]:
    """Yield the folders ``*.dist-info``, in the order of the path."""
    for path in sys.path:
        try:
            names = os.listdir(path or ".")  # noqa: PTH208 - in the order of importlib.metadata
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            if os.path.basename(path).startswith("python3"):  # noqa: PTH119 - the standard library as an archive
                continue
            raise _UnsureError from None
        if path.endswith(_EGG):
            raise _UnsureError
        for name in names:
            if name.endswith(_EGG):
                raise _UnsureError
            if name.endswith(".dist-info"):
                yield os.path.join(path, name)  # noqa: PTH118 - as fast as can be


def _of_distribution(folder: str) -> Iterator[InstalledPlugin]:
    try:
        with open(f"{folder}/entry_points.txt", encoding="utf-8") as opened:  # noqa: PTH123 - as fast as can be
            text = opened.read()
    except (FileNotFoundError, NotADirectoryError):
        return
    if f"[{GROUP}]" not in text:
        return
    with open(f"{folder}/METADATA", encoding="utf-8") as opened:  # noqa: PTH123 - as fast as can be
        headers = dict(_HEADER.findall(opened.read().partition("\n\n")[0]))
    if headers.keys() != {"Name", "Version"}:
        raise _UnsureError
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif line and not line.startswith("#") and section == GROUP:
            name, equals, value = line.partition("=")
            if not equals:
                raise _UnsureError
            yield InstalledPlugin(name.strip(), value.strip(), headers["Name"], headers["Version"])
