"""A place in a file: line and column."""

from __future__ import annotations

import attrs

#: The file of a setting that is not in the bundle, but in the configuration of the service.
SERVICE_CONFIGURATION = "the configuration of the service"


@attrs.frozen(order=True)
class Source:
    """A place in a file; lines and columns count from 1, and 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """``pool.yaml:12:3``, as compilers and editors write it."""
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"
