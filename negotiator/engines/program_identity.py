"""What must be equal on two machines so that they evaluate expressions alike: the program, Python and the libraries."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import negotiator

#: Libraries whose versions may change the value of an expression, or what is sent.
_LIBRARIES: Final = ("numpy", "pcre2", "attrs")


@cache
def program_identity() -> tuple[tuple[str, str], ...]:
    """Return what this process runs, as names and values; two processes with equal ones give equal answers."""
    return (
        ("negotiator", f"{negotiator.__version__} (sources {_sources()[:12]})"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        *((name, _version(name)) for name in _LIBRARIES),
    )


def difference(expected: tuple[tuple[str, str], ...], found: tuple[tuple[str, str], ...]) -> str:
    """Return in which program or library another process differs, and how; empty if in none."""
    values = dict(found)
    return ", ".join(
        f"{name} {values.get(name, 'missing')} instead of {value}"
        for name, value in expected
        if values.get(name) != value
    )


def _sources() -> str:
    """Return the digest of the sources of the program: a version under development has many."""
    folder = Path(negotiator.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py"), key=lambda each: each.relative_to(folder).as_posix()):
        name = file.relative_to(folder).as_posix()
        content = file.read_bytes()
        digest.update(f"{name}:{len(content)}:".encode())
        digest.update(content)
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
