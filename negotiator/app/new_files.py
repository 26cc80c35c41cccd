"""Writes files that did not exist: a folder to start from, such as a new bundle or plugin, never changes what is there."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

from negotiator.errors import CommandError

_TEMPLATE: Final = ".jinja"


def write_new(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, which is made if it is missing. Files that are there already stay as they are, and then nothing is written.

    :param files: contents by name, relative to the folder, with ``/`` between folders.
    :raises CommandError: a file exists, or one cannot be written.
    """
    paths = {folder / name: content for name, content in files.items()}
    there = [str(path) for path in paths if path.exists() or path.is_symlink()]
    if there:
        raise CommandError(
            f"{', '.join(there)}: exists already, and nothing was written; name another folder, or move the file away"
        )
    try:
        for path, content in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as opened:
                opened.write(content)
    except OSError as error:
        raise CommandError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None


def rendered(templates: Traversable, **values: Any) -> dict[str, bytes]:
    """Return the files of a folder of templates by name; a name without ``.jinja`` at its end is not rendered.

    :param values: the variables of the templates; each that a template uses is needed. In the name of a file, ``NAME`` between two
        underscores at each side is replaced by the variable ``name``.
    """
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - slow to import

    environment = Environment(  # noqa: S701 - the files are YAML and Python, not HTML
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    files = {}
    for name, entry in _files(templates):
        content = entry.read_bytes()
        if name.endswith(_TEMPLATE):
            content = environment.from_string(content.decode()).render(values).encode()
        for variable, value in values.items():
            name = name.replace(f"__{variable.upper()}__", str(value))  # noqa: PLW2901
        files[name.removesuffix(_TEMPLATE)] = content
    return files


def _files(folder: Traversable, above: str = "") -> list[tuple[str, Traversable]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                found += _files(entry, f"{above}{entry.name}/")
        else:
            found.append((above + entry.name, entry))
    return found
