"""Plugins dropped into a folder: a ``.py`` file, or a folder with an ``__init__.py``.

All of a plugin's code is read and checked first, then executed from memory, so that the version in the audit log
identifies the code that ran. Nothing is read from or written to ``__pycache__``. The modules get unique names: a plugin
can't replace another module, and loading a folder again loads its new content. They are removed from ``sys.modules`` when
the manager of their plugins is gone.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import attrs

from negotiator.hooks.failures import SourceCode as SourceCode
from negotiator.hooks.trust import check_folder, read_trusted

PREFIX = "_negotiator_dropin_"

_TEST = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")

_numbers = itertools.count(1)


@attrs.frozen
class DropIn:
    """A dropped-in plugin: its name, and its path (a ``.py`` file, or a folder)."""

    name: str
    path: Path
    folder: Path

    @property
    def file(self) -> Path:
        """The file that is executed first."""
        return self.path if self.path.suffix == ".py" else self.path / "__init__.py"


def find(folder: Path) -> tuple[DropIn, ...]:
    """Return the plugins in a folder, by name. Names that begin with ``_`` or ``.`` are skipped.

    Tests of plugins are skipped too, by their names for pytest: ``test_*.py``, ``*_test.py`` and ``conftest.py``.

    :raises UntrustedError: the folder is refused.
    :raises OSError: it can't be read.
    """
    check_folder(folder)
    return tuple(
        DropIn(path.stem if path.suffix == ".py" else path.name, path, folder)
        for path in sorted(folder.iterdir())
        if not (path.name.startswith(("_", ".")) or _TEST.fullmatch(path.name))
        and (path.suffix == ".py" or _is_package(path))
    )


def read(plugin: DropIn, *, trusted: bool = True) -> Mapping[str, SourceCode]:
    """Read all code of a plugin, by module name relative to it (the empty name is the plugin itself).

    ``trusted=False`` skips the checks of owner and mode, for tests of plugins.

    :raises UntrustedError: a file is refused.
    :raises OSError: a file can't be read.
    """
    return {
        name: SourceCode(file, read_trusted(file, plugin.folder) if trusted else file.read_bytes())
        for name, file in _files(plugin)
    }


def load(plugin: DropIn, code: Mapping[str, SourceCode]) -> ModuleType:
    """Execute a plugin and return its module; exceptions of its code are raised unchanged."""
    from negotiator.hooks.dropin_modules import FINDER  # noqa: PLC0415 - takes long, and few bundles have such plugins

    plain = re.sub(r"\W", "_", plugin.name)
    name = f"{PREFIX}{next(_numbers)}_{plain}"
    FINDER.code.update({f"{name}.{relative}" if relative else name: each for relative, each in code.items()})
    if FINDER not in sys.meta_path:
        sys.meta_path.append(FINDER)
    try:
        return importlib.import_module(name)
    except BaseException:
        unload([name])
        raise


def unload(names: Iterable[str]) -> None:
    """Forget the modules of plugins, by the names of their first modules, so that nothing is left in ``sys.modules``."""
    for name in names:
        from negotiator.hooks.dropin_modules import FINDER  # noqa: PLC0415 - as above

        for loaded in (name, *(each for each in FINDER.code if each.startswith(f"{name}."))):
            FINDER.code.pop(loaded, None)
            sys.modules.pop(loaded, None)


def module_names(plugins: Iterable[object]) -> tuple[str, ...]:
    """Return the names of those plugins that are modules of dropped-in plugins."""
    names = (plugin.__name__ for plugin in plugins if isinstance(plugin, ModuleType))
    return tuple(name for name in names if name.startswith(PREFIX))


def digest(code: Mapping[str, SourceCode]) -> str:
    """Return ``sha256:`` and the first 12 digits of the hash over all code of a plugin."""
    total = hashlib.sha256()
    for relative, each in sorted(code.items()):
        total.update(b"%d %d\n" % (len(relative.encode()), len(each.content)))
        total.update(relative.encode() + each.content)
    return f"sha256:{total.hexdigest()[:12]}"


def _is_package(path: Path) -> bool:
    try:
        (path / "__init__.py").stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # a folder that can't be read is reported when it is loaded, never skipped
    return True


def _files(plugin: DropIn) -> Iterator[tuple[str, Path]]:
    yield "", plugin.file
    if plugin.path != plugin.file:
        for file in sorted(plugin.path.rglob("*.py")):
            parts = file.relative_to(plugin.path).with_suffix("").parts
            names = parts[:-1] if parts[-1] == "__init__" else parts
            if names and all(name.isidentifier() for name in names):
                yield ".".join(names), file
