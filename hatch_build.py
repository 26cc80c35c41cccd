"""Adds the man pages and the completions of shells to a wheel, where ``release/shared_files.py`` has written them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SharedFiles(BuildHookInterface):
    """Files of a wheel that pip installs below the prefix of the environment."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel; an editable installation has none."""
        share = Path(self.root, "release", "share")
        if self.target_name == "wheel" and version != "editable":
            for file in sorted(share.rglob("*")):
                if file.is_file():
                    build_data["shared_data"][str(file)] = f"share/{file.relative_to(share).as_posix()}"
