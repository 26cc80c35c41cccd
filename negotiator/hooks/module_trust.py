"""Checks the files of a module that a bundle names, before it is imported.

The module is found like any other, without executing it. Refused are files that another user could have written: the module
or anything in its package, what Python cached of it, and the folder in which it was found.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from negotiator.files import check_trusted

_CACHE = "__pycache__"


def check_module(name: str) -> None:
    """Check the files of a module and of the packages that contain it; a missing module is left to the import.

    The owner of the program's own files is trusted: they could change the program itself.

    :raises UntrustedError: another user could have written one of them.
    :raises OSError: one of them can't be read.
    """
    top = name.partition(".")[0]
    spec = importlib.util.find_spec(top)
    if spec is None:
        return
    owners = {Path(__file__).stat().st_uid}
    places = [Path(each) for each in spec.submodule_search_locations or ()]
    if spec.has_location and spec.origin:
        places.append(Path(spec.origin))
    for place in places:
        for path in _with_contents(place, top):
            check_trusted(path, path.stat(), owners)


def _with_contents(place: Path, name: str) -> Iterator[Path]:
    """Yield the folder of a module or package, all that is in the package, and what is cached of the module."""
    yield place.parent
    yield place
    if not place.is_dir():
        cached = place.parent / _CACHE
        if cached.is_dir():
            yield cached
            yield from cached.glob(f"{name}.*.pyc")
        return
    for folder, folders, files in os.walk(place):
        for each in (*folders, *files):
            path = Path(folder, each)
            if path.exists():  # a link that leads nowhere can't be imported
                yield path
