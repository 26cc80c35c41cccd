"""What a path in a bundle may mean."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path, PurePosixPath

import attrs

from negotiator.bundle.folder import leads_out


@attrs.frozen
class FileOfBundle:
    """A file of the bundle, relative to it; only one that its digest covers."""

    folder: Path
    digested: Container[str]

    def __call__(self, text: str) -> Path | tuple[str, str]:
        """Find the file; or say what is wrong with its name, and what to do about it."""
        relative = PurePosixPath(text)
        if "\0" in text or not text.strip():
            return "expected the name of a file", ""
        if relative.is_absolute() or ".." in relative.parts:
            return f"the path {text!r} leads out of the bundle", "copy the file into the bundle's folder"
        path = self.folder / relative
        try:
            if leads_out(self.folder, path):
                return f"links lead from {text!r} out of the bundle", "copy the file into the bundle's folder"
            found, is_file = path.exists(), path.is_file()
        except (OSError, RuntimeError):
            found = is_file = False
        if not found:
            return f"there is no file {text!r} in the bundle", "paths are relative to the bundle's folder"
        if not is_file:
            return f"{text!r} is not a file", "name a file"
        if relative.as_posix() not in self.digested:
            hint = "hidden files, *~ and what lies behind a link to a folder are not digested"
            return f"{text!r} is not part of what the bundle's digest covers", hint
        return path


@attrs.frozen
class PluginsFolder:
    """A folder of plugins, relative to the bundle or absolute."""

    folder: Path

    def __call__(self, text: str) -> Path | tuple[str, str]:
        """Find the folder; or say what is wrong with its name, and what to do about it."""
        if "\0" in text or not text.strip():
            return "expected the name of a folder", ""
        path = self.folder / text
        try:
            is_folder = path.is_dir()
        except OSError:
            is_folder = False
        if not is_folder:
            return f"there is no folder {text!r}", "it is relative to the bundle's folder"
        return path
