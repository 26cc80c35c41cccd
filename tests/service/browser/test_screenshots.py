"""The screenshots of the documentation: ``pytest tests/service/browser --screenshots`` makes them anew."""

import struct
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
IMAGES = ROOT / "docs" / "images"
#: The pages that they show.
SHOWN = {
    "pages-pool.png": "/pool",
    "pages-queues.png": "/pool/queues",
    "pages-decisions.png": "/pool/decisions?user=erin",
    "pages-policies.png": "/pool/policies",
}


def size(picture):
    """Return width and height of a PNG image."""
    return struct.unpack(">II", picture[16:24])


@pytest.mark.parametrize("name", SHOWN)
def test_a_screenshot_shows_what_fits_on_a_screen(served, open_page, request, name):
    page = open_page()
    page.set_viewport_size({"width": 1200, "height": 800})
    page.goto(served + SHOWN[name])
    picture = page.screenshot()
    if request.config.getoption("screenshots"):
        (IMAGES / name).write_bytes(picture)
    assert size((IMAGES / name).read_bytes()) == size(picture)


def test_every_image_is_made_here_and_shown_by_a_document():
    assert {file.name for file in IMAGES.glob("*.png")} == set(SHOWN)
    texts = "".join(file.read_text() for file in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    assert [name for name in SHOWN if f"images/{name})" not in texts] == []
