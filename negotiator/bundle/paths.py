"""Resolve the paths that a bundle names."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path, PurePosixPath

import attrs

from negotiator.bundle.folder import leads_out


def no_files(text: str) -> tuple[str, str]:
    """Refuse every path, for settings that name no files."""
    del text
    return "files are not supported here", ""


@attrs.frozen
class FileOfBundle:
    """Resolves the name of a file of the bundle, relative to its folder; the digest must cover the file."""

    folder: Path
    digested: Container[str]

    def __call__(self, text: str) -> Path | tuple[str, str]:
        """Return the path of the file, or a message and a hint."""
        relative = PurePosixPath(text)
        if "\0" in text or not text.strip():
            return "expected a file name", ""
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
            return f"no file {text!r} in the bundle", "paths are relative to the bundle's folder"
        if not is_file:
            return f"{text!r} is not a file", "name a file"
        if relative.as_posix() not in self.digested:
            hint = "hidden files, *~ and files behind a link to a folder are not digested"
            return f"the bundle's digest does not cover {text!r}", hint
        return path


@attrs.frozen
class PluginsFolder:
    """Resolves the name of a folder of plugins, relative to the bundle or absolute."""

    folder: Path

    def __call__(self, text: str) -> Path | tuple[str, str]:
        """Return the path of the folder, or a message and a hint."""
        if "\0" in text or not text.strip():
            return "expected a folder name", ""
        path = self.folder / text
        try:
            is_folder = path.is_dir()
        except OSError:
            is_folder = False
        if not is_folder:
            return f"no folder {text!r}", "it is relative to the bundle's folder"
        return path
