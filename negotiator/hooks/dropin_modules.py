"""The part of Python's import system that finds and executes the modules of dropped-in plugins, from memory."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from negotiator.hooks.failures import SourceCode


@attrs.frozen
class MemoryLoader(InspectLoader):
    """Executes a module from memory."""

    code: SourceCode

    def is_package(self, fullname: str) -> bool:  # noqa: ARG002 - the import system's interface
        """See ``InspectLoader.is_package``."""
        return self.code.is_package

    def get_source(self, fullname: str) -> str:  # noqa: ARG002 - the import system's interface
        """See ``InspectLoader.get_source``."""
        return importlib.util.decode_source(self.code.content)

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the import system's interface
        """See ``InspectLoader.get_code``."""
        return compile(self.code.content, str(self.code.file), "exec", dont_inherit=True)


@attrs.frozen(eq=False)
class DropInFinder(MetaPathFinder):
    """Finds the modules of dropped-in plugins, all of which were read before the first one is executed."""

    code: dict[str, SourceCode] = attrs.field(factory=dict)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the place of a module; None if it is not one of a dropped-in plugin."""
        del path, target  # the name is unique
        code = self.code.get(fullname)
        if code is None:
            return None
        spec = importlib.util.spec_from_loader(
            fullname, MemoryLoader(code), origin=str(code.file), is_package=code.is_package
        )
        if spec is not None:
            spec.has_location = True  # so that the module gets a __file__
        return spec


#: The finder of all dropped-in plugins.
FINDER: Final = DropInFinder()
