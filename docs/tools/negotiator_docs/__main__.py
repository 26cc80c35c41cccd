"""Renew the generated reference pages and the output that tutorial pages show."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from negotiator_docs.reference import PAGES
from negotiator_docs.transcripts import TUTORIALS, prepared_folder, replayed

DOCS = Path(__file__).parents[2]


def main() -> None:
    """Write every page that changed, and print its name."""
    for name, make in PAGES.items():
        _write(DOCS / "reference" / name, make())
    for name in TUTORIALS:
        page = DOCS / name
        with tempfile.TemporaryDirectory() as folder:
            _write(page, replayed(page.read_text("utf-8"), prepared_folder(Path(folder), DOCS.parent)))


def _write(page: Path, text: str) -> None:
    if not page.exists() or page.read_text("utf-8") != text:
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, "utf-8")
        sys.stdout.write(f"{page.relative_to(DOCS.parent)}\n")


if __name__ == "__main__":
    main()
