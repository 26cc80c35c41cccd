"""Starts the program, and says so if another library has taken the place of its package.

The Python package registry has another library whose package is called ``negotiator`` too. pip does not notice when one overwrites the files of the
other, and then an import fails with a message about neither. So the command starts here, outside of that package.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_INVALID: Final = 2  # as for an invalid command line: an administrator must act
_OURS: Final = "__version__"  # the other library has none
_REMEDY: Final = "pip uninstall --yes negotiator pool-negotiator && pip install pool-negotiator"


def main() -> None:
    """Run the program."""
    problem = find_problem()
    if problem:
        sys.stderr.write(f"error: {problem}. The two cannot be in one environment: {_REMEDY}\n")
        sys.exit(_INVALID)
    from negotiator.__main__ import main as run  # noqa: PLC0415 - not if the package is another one

    run()


def find_problem() -> str:
    """Return what is wrong with the package ``negotiator`` of this environment; empty if it is that of this program."""
    spec = find_spec("negotiator")
    if spec is None:
        return "the package negotiator is missing; perhaps another library of this name was uninstalled"
    if not spec.origin or not Path(spec.origin).is_file():  # a folder without __init__.py
        places = ", ".join(spec.submodule_search_locations or ())
        return f"{places}: __init__.py is missing; perhaps another library named negotiator was uninstalled"
    if _OURS not in Path(spec.origin).read_text("utf-8", "replace"):
        return f"{spec.origin}: this is another library named negotiator"
    return ""
