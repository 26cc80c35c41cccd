"""Columns of texts on a terminal are those of rich, which is imported for texts beyond ASCII only."""

import rich.cells
from hypothesis import given
from hypothesis import strategies as st

from negotiator.cli import table_layout

TEXTS = st.text(st.characters(min_codepoint=32, exclude_characters="\x7f", exclude_categories=["Cs", "Cc"]))


@given(TEXTS, st.integers(0, 30))
def test_texts_are_measured_cut_and_filled_as_rich_does(text, total):
    assert table_layout.cell_len(text) == rich.cells.cell_len(text)
    assert table_layout.set_cell_size(text, total) == rich.cells.set_cell_size(text, total)


@given(TEXTS, st.integers(2, 30))
def test_pieces_are_those_of_rich(text, width):
    assert table_layout.chop_cells(text, width) == rich.cells.chop_cells(text, width)
