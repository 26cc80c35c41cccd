"""Pages that a reader follows command by command: their files are written, their commands run, their output renewed.

A fenced block after a line that ends with the name of a file and a colon, `` `site/pool.yaml`: ``, is that file. In a ``console``
block each line that begins with ``$ `` is a command, and the lines below it are its output. An output that ends with a line
``...`` is shortened there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

#: The pages, each a session that begins in a folder of its own.
TUTORIALS = (
    "index.md",
    "from-htcondor.md",
    "from-yunikorn.md",
    "from-gridengine.md",
    "plugin-tutorial.md",
    "auditors.md",
)
SHORTENED = "..."

_FENCE = re.compile(r"^```(?P<language>[\w+-]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"`([^`\s]+)`:\n\n\Z")
#: Where the program is installed is a matter of the machine.
_INSTALLED = re.compile(r"/\S*(?=/negotiator/bundle/default)")
_VARIES = re.compile(r"\b([0-9a-f]{12}|[0-9a-f]{64}|\d+\.\d+s\b|[\d,]+(?= bytes))")


def prepared_folder(folder: Path, project: Path) -> Path:
    """Copy the examples that pages use into an empty folder, and return it."""
    folder.chmod(0o755)
    for name in ("examples/first-pool", "policies"):
        shutil.copytree(project / name, folder / name)
    return folder


def replayed(text: str, folder: Path) -> str:
    """Return a page with what its commands print now.

    :param text: the page.
    :param folder: where its files are written, and its commands run.
    """
    parts, end = [], 0
    run = _shell(folder)
    for fence in _FENCE.finditer(text):
        body = fence["body"]
        named = _FILE_NAME.search(text[: fence.start()])
        if fence["language"] == "console":
            body = "".join(f"$ {command}\n{_like(shown, run(command))}" for command, shown in commands(body))
        elif named:
            (folder / named[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / named[1]).write_text(body, "utf-8")
        parts += [text[end : fence.start("body")], body]
        end = fence.end("body")
    return "".join([*parts, text[end:]])


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block, with the output shown below it."""
    for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = piece.partition("\n")
        yield command, shown


def stable(text: str) -> str:
    """Return a text without what changes with every edit or run: digests, sizes and times of tests."""
    return _VARIES.sub(SHORTENED, text)


def _like(shown: str, output: str) -> str:
    """Return an output, shortened where the shown one is."""
    lines = shown.splitlines()
    if not lines or lines[-1] != SHORTENED:
        return output
    kept = output.splitlines()[: len(lines) - 1]
    return "".join(f"{line}\n" for line in (*kept, SHORTENED))


def _shell(folder: Path) -> Callable[[str], str]:
    """Return a function that runs a command in a folder, and returns what it prints, errors too."""
    programs = folder / ".bin"
    programs.mkdir()
    for name, module in (("negotiator", "negotiator"), ("pytest", "pytest")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        program.chmod(0o755)
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "PYTHONPATH") if name in os.environ}
    environment = {**kept, "HOME": str(folder), "PATH": f"{programs}:{os.environ['PATH']}", "TZ": "UTC"}

    def run(command: str) -> str:
        done = subprocess.run(  # noqa: S603 - the commands of the project's own pages
            ["/bin/sh", "-c", f"umask 022; {command}"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        shown = _INSTALLED.sub("...", done.stdout.decode().replace(str(folder), "."))
        return "".join(f"{line.rstrip()}\n" for line in shown.rstrip().splitlines())

    return run
