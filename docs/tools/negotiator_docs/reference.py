"""The generated reference pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from negotiator_docs.commands import commands_page
from negotiator_docs.hooks import hooks_page
from negotiator_docs.keys import keys_page
from negotiator_docs.program import program_page

#: The function that returns the text of each page, by the page's name below ``docs/reference``.
PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "hooks.md": hooks_page,
    "keys.md": keys_page,
    "program.md": program_page,
}
