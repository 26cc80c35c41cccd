"""The notebooks of the examples run from their first cell to the last, and are stored without output."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").rglob("*.ipynb"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.name)
def test_a_notebook_runs_and_shows_tables(file):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    client.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ())]
    assert sum("<table" in each.get("text/html", "") for each in shown) >= 4
    assert any("limit of user * at root" in each.get("text/plain", "") for each in shown)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.name)
def test_a_notebook_is_stored_without_output_and_without_names_of_a_machine(file):
    notebook = json.loads(file.read_text())
    assert len(NOTEBOOKS) >= 1
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in notebook["cells"])
    assert set(notebook["metadata"]) <= {"kernelspec", "language_info"}
