"""``make house``: files, lines and modules of each room beside its targets, the longest files and functions, and helpers used once."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click

ROOT: Final = Path(__file__).parents[2]
POOL: Final = "examples/first-pool"
_SHORT: Final = 3  # lines of the body of a helper that belongs where it is used
_LONGEST: Final = 8
_LIST: Final = """
import sys
from negotiator.__main__ import main
sys.argv[0] = 'negotiator'
try:
    main()
finally:
    print(sum(name.partition('.')[0].startswith('negotiator') for name in sys.modules), file=sys.stderr)
"""


class Room(NamedTuple):
    """Folders that hold one idea, and how many files and lines they are to have at most."""

    name: str
    folders: Sequence[str]
    files: int
    lines: int


class Function(NamedTuple):
    """A function or a class: where it is, and its lines."""

    name: str
    file: str
    line: int
    lines: int


ROOMS: Final = (
    Room("classad", ["negotiator/classad"], 40, 14_500),
    Room(
        "cli, app, service",
        [f"negotiator/{each}" for each in ["cli", "app", "service", "library", "explain"]],
        115,
        24_000,
    ),
    Room("cycle, ledger", [f"negotiator/{each}" for each in ["cycle", "ledger", "engines"]], 40, 9_000),
    Room("hooks", ["negotiator/hooks", "negotiator/plugin.py"], 16, 4_500),
    Room("runtime", ["negotiator/runtime"], 22, 5_800),
    Room(
        "bundle, pool, audit",
        [f"negotiator/{each}" for each in ["bundle", "pool", "audit", "queues", "placement"]],
        45,
        12_300,
    ),
    Room(
        "large plugins",
        [f"plugins/negotiator_{each}" for each in ["fairshare", "quotasets", "live"]],
        70,
        17_200,
    ),
    Room("other plugins", ["plugins"], 18, 3_700),
    Room("everything else", ["negotiator"], 0, 0),
)
ALL: Final = Room("sum", [], 340, 90_000)
#: Commands, and how many modules of the program each may import.
COMMANDS: Final = (
    (["run", POOL, "--no-audit"], 200),
    (["why", "14", "--pool", POOL], 120),
    (["check", "policies/limits"], 120),
)


def sources() -> dict[str, str]:
    """Return the text of each module of the program and its plugins, by its path."""
    files = subprocess.run(
        ["git", "ls-files", "negotiator", "plugins"],  # noqa: S607 - git of whoever runs it
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: (ROOT / name).read_text() for name in files.stdout.split() if name.endswith(".py")}


def rooms(texts: dict[str, str]) -> Iterator[tuple[Room, int, int]]:
    """Yield each room with its files and lines, and all of them; a file is in the first room that has it."""
    left = dict(texts)
    for room in ROOMS:
        own = [
            name
            for name in left
            if any(name == folder or name.startswith(f"{folder}/") for folder in room.folders)
        ]
        yield room, len(own), sum(left.pop(name).count("\n") for name in own)
    yield ALL, len(texts), sum(text.count("\n") for text in texts.values())


def functions(texts: dict[str, str]) -> list[tuple[Function, ast.AST]]:
    """Return all functions with their trees."""
    return [
        (Function(node.name, name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1), node)
        for name, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    ]


def used_once(texts: dict[str, str]) -> list[Function]:
    """Return the private functions of a few lines that are named in one place beside their definition."""
    words = Counter(word for text in texts.values() for word in re.findall(r"\b_[a-z]\w*", text))
    found = []
    for function, node in functions(texts):
        body = [
            each
            for each in node.body
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        ]
        short = body and (body[-1].end_lineno or 0) - body[0].lineno < _SHORT
        if (
            short
            and re.match(r"_[a-z]", function.name)
            and words[function.name] == 2
            and not node.decorator_list
        ):
            found.append(function)
    return found


def modules(words: Sequence[str]) -> int:
    """Return how many modules of the program a command imports."""
    command = [sys.executable, "-c", _LIST, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - this program
    return int(done.stderr.split()[-1])


def main() -> None:
    """Print the figures, with a mark where one is above its target."""
    texts = sources()
    click.echo(f"{'room':<20}{'files':>7}{'target':>8}{'lines':>10}{'target':>9}")
    for room, files, lines in rooms(texts):
        targets = f"{room.files:>8}{lines:>10,}{room.lines:>9,}" if room.files else f"{'':8}{lines:>10,}"
        click.echo(
            f"{room.name:<20}{files:>7}{targets}{_mark(files > room.files > 0 or lines > room.lines > 0)}"
        )
    click.echo("\nmodules of the program that a command imports")
    for words, most in COMMANDS:
        count = modules(words)
        click.echo(f"  {words[0]:<8}{count:>5}, target {most}{_mark(count > most)}")
    click.echo("\nlongest files")
    for name in sorted(texts, key=lambda each: -texts[each].count("\n"))[:_LONGEST]:
        click.echo(f"  {texts[name].count(chr(10)):>5}  {name}")
    click.echo("\nlongest functions")
    for each, _ in sorted(functions(texts), key=lambda found: -found[0].lines)[:_LONGEST]:
        click.echo(f"  {each.lines:>5}  {each.file}:{each.line} {each.name}")
    click.echo(f"\nprivate functions of at most {_SHORT} lines that are used once: {len(used_once(texts))}")


def _mark(missed: bool) -> str:  # noqa: FBT001 - one value
    return "  missed" if missed else ""


if __name__ == "__main__":
    main()
