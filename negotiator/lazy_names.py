"""Names of a package that are imported when they are used first: NumPy and the plugins take most of the time of a start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package or module (PEP 562).

    :param package: its ``__name__``.
    :param modules: by module, the names that are imported from it, separated by spaces. For type checkers the package imports
        the same names.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def find(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        found: object = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        return sorted(vars(sys.modules[package]).keys() | module_of.keys())

    return find, names
