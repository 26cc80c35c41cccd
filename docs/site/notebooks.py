"""Read notebooks for the site: they run at the top of the project, where the paths in them begin."""

from __future__ import annotations

from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]


def read(text: str) -> nbformat.NotebookNode:
    """Return a notebook with a hidden first cell that changes to the top of the project."""
    notebook = nbformat.reads(text, as_version=4)
    first = nbformat.v4.new_code_cell(
        f"import os\nos.chdir({str(ROOT)!r})", metadata={"tags": ["remove-cell"]}
    )
    notebook.cells.insert(0, first)
    return notebook
