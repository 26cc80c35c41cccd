"""Use case: the package of a plugin to start from, with a policy, its settings and tests."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Final

import attrs

import negotiator
from negotiator.app.new_files import write_new
from negotiator.errors import InvalidCallError
from negotiator.hooks.starting_bundles import render_templates

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_LONGEST: Final = 30
_PREFIX: Final = "negotiator-"


@attrs.frozen
class NewPlugin:
    """A package that was written: the names of the plugin and its module, and the files by name."""

    name: str
    module: str
    folder: Path
    files: tuple[str, ...]


def create_plugin(name: str, folder: Path | None = None) -> NewPlugin:
    """Write the package of a plugin.

    :param name: of the plugin, as bundles and audit records name it: letters in lower case, digits and ``-``. The distribution is
        ``negotiator-NAME``, the module ``negotiator_NAME``.
    :param folder: where it is written; by default ``negotiator-NAME`` in the current folder.
    :raises InvalidCallError: the name is invalid.
    :raises CommandError: a file exists already, or cannot be written.
    """
    short = name.removeprefix(_PREFIX)
    if not _NAME.fullmatch(short) or len(short) > _LONGEST:
        raise InvalidCallError(
            f"{name[:80]!r}: invalid name of a plugin; write at most 30 letters in lower case, digits and -, such as night-shift"
        )
    key = short.replace("-", "_")
    module = f"negotiator_{key}"
    target = folder or Path(f"{_PREFIX}{short}")
    template = files(negotiator) / "app" / "new_plugin" / "template"
    made = render_templates(template, name=short, key=key, module=module, version=negotiator.__version__)
    write_new(target, made)
    return NewPlugin(short, module, target, tuple(sorted(made)))
