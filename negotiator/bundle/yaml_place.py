"""Map each character of a YAML scalar to its place in the file, through quotes, escapes and folding."""

from __future__ import annotations

import re

import yaml

from negotiator.bundle.text import LocatedText, SourceText

_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_FOLD = re.compile(r"\\[ \t]*\r?\n[ \t]*")
_SPACE = " \t\r\n\x85\u2028\u2029"


def span(event: yaml.Event) -> tuple[int, int]:
    """Return the first index of a PyYAML event, and the index behind its end."""
    start, end = event.start_mark, event.end_mark
    return (start.index if start else 0), (end.index if end else 0)


def locate(file: SourceText, event: yaml.ScalarEvent) -> LocatedText:
    """Return the value of a scalar with the place of each of its characters."""
    start, end = span(event)
    value: str = event.value
    if file.text[start:end] == value:
        return LocatedText(value, file, range(start, end), start)
    if (
        event.style in {"'", '"'} and file.text[start + 1 : end - 1] == value
    ):  # escapes and folding make it shorter
        return LocatedText(value, file, range(start + 1, end - 1), start + 1 if value else start)
    if event.style in {"|", ">"}:
        header = file.text.find("\n", start, end)
        start = header + 1 if header >= 0 else end
    elif event.style:
        start += 1
    offsets = _align(file.text, start, end, value, event.style or "")
    return LocatedText(value, file, offsets, offsets[0] if offsets else span(event)[0])


def _align(text: str, start: int, end: int, value: str, style: str) -> list[int]:
    """Return the index in the file of each character of the value, by walking both side by side.

    White space may have been folded, cut or indented, so it is followed only while both agree. Every other character
    is in both, as itself or as an escape.
    """
    offsets, at, last = [], start, max(start, end - 1)
    for character in value:
        if style == '"':
            at = _skip_folds(text, at, end)
        if character not in _SPACE:
            while at < end and text[at] in _SPACE:
                at += 1
                if style == '"':
                    at = _skip_folds(text, at, end)
        offsets.append(min(at, last))
        at += _width(text, at, end, character, style)
    return offsets


def _skip_folds(text: str, at: int, end: int) -> int:
    while fold := _FOLD.match(text, at, end):
        at = fold.end()
    return at


def _width(text: str, at: int, end: int, character: str, style: str) -> int:
    """Return how many characters of the file make one character of the value."""
    if at >= end:
        return 0
    if style == '"' and (escape := _ESCAPE.match(text, at, end)):
        return escape.end() - at
    if style == "'" and text.startswith("''", at):
        return 2
    return 1 if text[at] == character else 0
