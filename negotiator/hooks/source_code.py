"""The source of a module that is executed from memory."""

from __future__ import annotations

from pathlib import Path

import attrs


@attrs.frozen
class SourceCode:
    """The source of one module."""

    file: Path
    content: bytes

    @property
    def is_package(self) -> bool:
        """Whether it may have submodules."""
        return self.file.name == "__init__.py"
