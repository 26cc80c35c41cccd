"""The picture at the top of the README: it is what the commands in it print."""

import re

from terminal_picture import PICTURE, terminal_picture


def stable(svg):
    """Leave out the digest of the bundle, which changes with every edit of a file."""
    return re.sub(r"[0-9a-f]{12}", "...", svg)


def test_the_picture_is_what_its_commands_print_now():
    """If it is not: ``make pictures`` makes it anew."""
    assert stable(PICTURE.read_text("utf-8")) == stable(terminal_picture())


def test_the_picture_loads_nothing_from_elsewhere():
    assert set(re.findall(r"https?://[^\s\"<]+", PICTURE.read_text("utf-8"))) <= {
        "http://www.w3.org/2000/svg",
        "https://www.textualize.io",
    }
