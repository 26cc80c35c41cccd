"""Lines of attributes and expressions: ``-autoformat`` of condor_userprio.

Source: the HTCondor manual, condor_userprio, and condor_userprio 25.14.1.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Final, Self

import attrs

from negotiator.plugin import (
    Ad,
    ClassAdValue,
    Expr,
    InvalidCallError,
    NegotiatorError,
    parse,
    printable,
    references,
    unparse,
    unparse_value,
)
from negotiator_fairshare.userprio.columns import date, duration
from negotiator_fairshare.userprio.literals import as_sent, literal

_BEYOND: Final = 2**63


class ValueForm(enum.Enum):
    """How a column shows its values: times are numbers of seconds, and other values have no text then."""

    PLAIN = enum.auto()
    QUOTED = enum.auto()
    RAW = enum.auto()
    DURATION = enum.auto()
    DATE = enum.auto()

    @classmethod
    def of(cls, letters: str) -> Self:
        """Return the form that letters ask for; several of them count in this order. Those without a meaning are ignored."""
        forms = (("ro", cls.RAW), ("V", cls.QUOTED), ("Y", cls.DATE), ("T", cls.DURATION))
        return next((form for some, form in forms if set(some) & set(letters)), cls.PLAIN)

    @property
    def is_time(self) -> bool:
        """True if values are seconds."""
        return self in {ValueForm.DURATION, ValueForm.DATE}


@attrs.frozen
class OutputColumn:
    """An attribute or an expression of a line, as written and parsed, and how the letters of its option want it printed."""

    text: str
    tree: Expr
    labelled: bool = False
    form: ValueForm = ValueForm.PLAIN

    @classmethod
    def of(cls, text: str, letters: str) -> Self:
        """Parse a column.

        :raises InvalidCallError: the expression is invalid.
        """
        labelled = "l" in letters and "h" not in letters
        try:
            return cls(text, parse(text), labelled, ValueForm.of(letters))
        except NegotiatorError as error:
            raise InvalidCallError(f"-autoformat: invalid expression {text!r}: {error}") from error


@attrs.frozen
class OutputCell:
    """A printable text, and how wide its column must be at least: of a real, as wide as its longest form."""

    text: str
    width: int
    at_right: bool = False

    @classmethod
    def of(cls, value: ClassAdValue, text: str) -> Self:
        """Return the cell of a value with this text."""
        shown = printable(text)
        return cls(shown, len(unparse_value(value)) if isinstance(value, float) else len(shown))

    @classmethod
    def of_time(cls, text: str) -> Self:
        """Return the cell of a time."""
        return cls(text, len(text), at_right=True)

    def padded(self, width: int) -> str:
        """Return the text, at least this wide."""
        return self.text.rjust(width) if self.at_right else self.text.ljust(width)


@attrs.frozen(kw_only=True)
class AutoFormat:
    """The columns of ``-autoformat``, and how lines are made of them.

    ``before_row``, ``between`` and ``after`` are the texts before a line, before each column but the first, and after each
    column but the last.
    """

    columns: tuple[OutputColumn, ...]
    headings: bool = False
    job_id: bool = False
    before_row: str = ""
    between: str = " "
    after: str = ""

    @classmethod
    def of(cls, letters: str, columns: Sequence[str]) -> Self:
        """Return the format of an option ``-autoformat:LETTERS COLUMN...``.

        :raises InvalidCallError: an expression is invalid.
        """
        between, before_row, after = " ", "", ""
        for letter in letters:
            if letter in ",n":
                after = "\n" if letter == "n" else ","
            elif letter == "t":
                between = "\t"
            elif letter == "g":
                between, before_row = "", "\n"
        return cls(
            columns=tuple(OutputColumn.of(each, letters) for each in columns),
            headings="h" in letters,
            job_id="j" in letters,
            before_row=before_row,
            between=between,
            after=after,
        )

    def appended_to(self, earlier: Self | None) -> Self:
        """Return the format with the columns of an earlier option before its own; the later option decides on the lines."""
        if earlier is None:
            return self
        return attrs.evolve(
            self,
            columns=(*earlier.columns, *self.columns),
            headings=self.headings or earlier.headings,
            job_id=self.job_id or earlier.job_id,
        )

    def text(self, ads: Iterator[Mapping[str, str | float]], zone: tzinfo | None = UTC) -> str:
        """Return the lines of all ads, after their headings. A column with a heading is as wide as its widest cell so far.

        :param zone: of dates; None is the local one.
        """
        widths = [len(column.text) for column in self.columns]
        rows = [self._row(" ID", [column.text for column in self.columns])] if self.headings else []
        for ad in ads:
            cells = self._cells(as_sent(ad), zone)
            widths = [max(width, cell.width) for width, cell in zip(widths, cells, strict=True)]
            padded = widths if self.headings else [0] * len(cells)
            rows.append(
                self._row("", [cell.padded(width) for cell, width in zip(cells, padded, strict=True)])
            )
        return "".join(rows)

    def _row(self, job_id: str, cells: list[str]) -> str:
        """Return a line; ``job_id`` is the cell of ``j``: accounts are no jobs."""
        all_cells = [job_id, *cells] if self.job_id else cells
        return f"{self.before_row}{f'{self.after}{self.between}'.join(all_cells)}\n"

    def _cells(self, ad: Ad, zone: tzinfo | None) -> list[OutputCell]:
        names = [f"_{number}" for number in range(len(self.columns))]
        row = ad.with_items(zip(names, (column.tree for column in self.columns), strict=True))
        return [
            _raw(ad, column) if column.form is ValueForm.RAW else _formatted(column, row.evaluate(name), zone)
            for name, column in zip(names, self.columns, strict=True)
        ]


def _formatted(column: OutputColumn, value: ClassAdValue, zone: tzinfo | None) -> OutputCell:
    if column.form.is_time:  # these have no label, as in HTCondor
        return OutputCell.of_time(_time(value, column.form, zone))
    bare = isinstance(value, str) and column.form is not ValueForm.QUOTED
    cell = OutputCell.of(value, str(value) if bare else literal(value))
    return attrs.evolve(cell, text=f"{column.text} = {cell.text}") if column.labelled else cell


def _time(value: ClassAdValue, form: ValueForm, zone: tzinfo | None) -> str:
    if not isinstance(value, bool | int | float):
        return ""
    seconds = int(value) if -_BEYOND <= value < _BEYOND else -_BEYOND  # as a 64-bit integer in C
    return duration(seconds) if form is ValueForm.DURATION else date(seconds, zone)


def _raw(ad: Ad, column: OutputColumn) -> OutputCell:
    """Return what an ad has of an attribute, not evaluated; of any other expression its own text."""
    is_attribute = column.text.isidentifier() and references(column.tree).unscoped
    text = "undefined" if is_attribute else unparse(column.tree)
    shown = printable(literal(ad.evaluate(column.text)) if column.text in ad else text)
    cell = OutputCell(shown, len(shown))
    return attrs.evolve(cell, text=f"{column.text} = {shown}") if column.labelled else cell
