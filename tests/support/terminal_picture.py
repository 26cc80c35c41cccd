"""Pictures of a terminal: what commands print, in colours, as SVG. Run as a module it makes the picture of the README anew."""

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "first-cycle.svg"
TITLE = "negotiator: a cycle, and why a user waits"
COMMANDS = (
    "negotiator run --bundle policies/limits --no-audit examples/first-pool",
    "negotiator why tester --bundle policies/limits --pool examples/first-pool",
)
COLUMNS = 112
#: Fonts of the reader's machine only: a picture must not load anything.
_FORMAT = re.sub(
    r"^    @font-face \{\{.*?^    \}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL | re.MULTILINE
)


def terminal_picture():
    """Run the commands of the README from the top folder, and return their terminal as SVG."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    for command in COMMANDS:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        console.print(Text.from_ansi(_printed(command)))
        console.print()
    return console.export_svg(title=TITLE, code_format=_FORMAT, unique_id="first-cycle")


def _printed(command):
    words = [sys.executable, "-m", *shlex.split(command)]
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    return done.stdout.rstrip()


if __name__ == "__main__":
    PICTURE.write_text(terminal_picture(), "utf-8")
