"""Writes the man pages and the completions of shells, from the commands of the program.

``python release/shared_files.py`` makes the folder ``release/share`` anew, with the layout of ``/usr/share``; the sdist and the wheel have it then.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete
from click_man.man import ManPage

from negotiator import __version__
from negotiator.cli import main
from negotiator.cli.lazy import LazyCommand

PROGRAM = "negotiator"
SHARE = Path(__file__).parent / "share"
COMPLETIONS: dict[str, type[ShellComplete]] = {
    f"bash-completion/completions/{PROGRAM}": BashComplete,
    f"zsh/site-functions/_{PROGRAM}": ZshComplete,
    f"fish/vendor_completions.d/{PROGRAM}.fish": FishComplete,
}


def write(share: Path) -> None:
    """Make the folder anew."""
    shutil.rmtree(share, ignore_errors=True)
    files = {f"man/man1/{name}.1": text for name, text in man_pages()} | completions()
    for name, text in files.items():
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        (share / name).write_text(text, encoding="utf-8")


def completions() -> dict[str, str]:
    """Return what each shell reads, by file."""
    variable = f"_{PROGRAM.upper()}_COMPLETE"
    return {
        # BashComplete.source would run bash to learn its version.
        name: ShellComplete.source(shell(main, {}, PROGRAM, variable)) + "\n"
        for name, shell in COMPLETIONS.items()
    }


def man_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of the page of each command, groups included."""
    top = main.make_context(PROGRAM, [], resilient_parsing=True)
    yield PROGRAM, page(top, {name: main.get_command(top, name) for name in main.list_commands(top)})
    yield from _below(main, top)


def _below(group: click.Group, context: click.Context) -> Iterator[tuple[str, str]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, LazyCommand):
            command = command.load()
        if command is None or command.hidden:
            continue
        own = click.Context(command, info_name=name, parent=context, **command.context_settings)
        commands = command.commands if isinstance(command, click.Group) else {}
        yield own.command_path.replace(" ", "-"), page(own, commands)
        if isinstance(command, click.Group):
            yield from _below(command, own)


def page(context: click.Context, commands: dict[str, click.Command | None]) -> str:
    """Return the page of one command; its date is that of SOURCE_DATE_EPOCH."""
    found = ManPage(context.command_path)
    found.version = __version__
    found.short_help = escaped(context.command.get_short_help_str(100))
    found.synopsis = " ".join(context.command.collect_usage_pieces(context))
    found.description = "\n".join(roff(context.command.help or ""))
    records = (each.get_help_record(context) for each in context.command.get_params(context))
    found.options = [(option, escaped(text)) for option, text in filter(None, records) if text]
    found.commands = [
        (name, escaped(command.get_short_help_str(100)))
        for name, command in commands.items()
        if command is not None and not command.hidden
    ]
    return str(found)


def roff(help_text: str) -> Iterator[str]:
    r"""Yield the lines of a help text for man: paragraphs, and those after ``\b`` as they are written."""
    for paragraph in re.split(r"\n\s*\n", help_text.strip()):
        lines = paragraph.splitlines()
        as_written = lines[0].strip() == "\b"
        yield ".PP"
        yield from [".nf"] if as_written else []
        yield from map(escaped, lines[1:] if as_written else map(str.strip, lines))
        yield from [".fi"] if as_written else []


def escaped(text: str) -> str:
    """Return a line in which nothing is a command of roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARE)
