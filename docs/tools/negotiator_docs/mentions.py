"""Where the documentation writes about a key: the section that has it in an example, or as code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

import attrs

#: The pages that document keys, the more general ones last.
_PAGES = (
    "bundle.md",
    "queues.md",
    "placement.md",
    "quota-sets.md",
    "fair-share.md",
    "queue-order.md",
    "live-pool.md",
    "service.md",
    "cycle.md",
    "several-negotiators.md",
    "hooks.md",
    "condor-settings.md",
)

_BLOCKS = re.MULTILINE | re.DOTALL


@attrs.frozen
class MentionSection:
    """A section of a page, with its title and anchor."""

    page: str
    title: str
    anchor: str
    text: str

    def score(self, name: str, part: str) -> int:
        """Return how surely the section documents a key: 0 if it does not have it.

        :param part: the part that the key belongs to, such as ``audit``; empty for a key at the top.
        """
        key = re.escape(name)
        as_setting = self._has(rf"`{key}: |^\s*(?:- )?\{{?{key}:|[{{,] ?{key}: ")
        if not as_setting and not self._has(f"`{key}:?`"):
            return 0
        of_part = bool(part) and self._has(rf"^\s*(?:- )?{re.escape(part)}:|`{re.escape(part)}:")
        return 1 + as_setting + 2 * of_part

    def _has(self, pattern: str) -> bool:
        return re.search(pattern, self.text, re.MULTILINE) is not None

    @property
    def link(self) -> str:
        """The link from a reference page."""
        return f"[{self.title}](../{self.page}{'#' * bool(self.anchor)}{self.anchor})"


@attrs.frozen
class Mentions:
    """The sections of all pages that document keys, by page."""

    sections: Mapping[str, tuple[MentionSection, ...]]

    @classmethod
    def of(cls, docs: Path) -> Self:
        """Return the sections of the pages in a folder."""
        return cls({page: tuple(_sections(page, (docs / page).read_text("utf-8"))) for page in _PAGES})

    def link(self, path: str, page: str) -> str:
        """Return the link to the section that documents a key, empty if none does.

        :param path: the key with the parts that it belongs to, ``audit.matches``.
        :param page: the page where it is looked for first; empty for none.
        """
        part, _, name = path.replace("[]", "").replace(".NAME", "").rpartition(".")
        pages = (page, *(each for each in _PAGES if each != page)) if page else _PAGES
        for each in pages:
            found = max(self.sections[each], key=lambda section: section.score(name, part.rpartition(".")[2]))
            if found.score(name, part.rpartition(".")[2]):
                return found.link
        return ""


def _sections(page: str, written: str) -> Iterator[MentionSection]:
    # A comment in an example is no heading.
    written = re.sub(r"^```.*?^```$", lambda block: block[0].replace("\n#", "\n #"), written, flags=_BLOCKS)
    pieces = re.split(r"^(#{1,4} .*)$", written, flags=re.MULTILINE)
    for heading, body in zip(pieces[1::2], pieces[2::2], strict=True):
        title = heading.lstrip("# ").replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        yield MentionSection(page, title, "" if heading.startswith("# ") else anchor, body)
