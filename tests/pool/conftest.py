import gzip
import io
import os
from pathlib import Path

import pytest

from negotiator.classad import unparse
from negotiator.pool import read_ads, read_pool

SHARED = Path(os.environ.get("NEGOTIATOR_SHARED") or Path(__file__).parents[3] / "shared")


def _bytes(content):
    return content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")


@pytest.fixture
def snapshot():
    """Read a text (or bytes) as a pool from standard input."""
    return lambda content: read_pool(["-"], io.BytesIO(_bytes(content)))


@pytest.fixture
def ads():
    """Read a text (or bytes) as ads: a list of dicts from names to expressions as text, and the problems."""

    def read(content):
        file = read_ads("-", io.BytesIO(_bytes(content)))
        return [{name: unparse(expr) for name, expr in ad.items()} for ad, _ in file.ads], file.problems

    return read


@pytest.fixture
def compressed():
    """Compress a text."""
    return lambda content: gzip.compress(_bytes(content))


@pytest.fixture
def real_ads():
    """Give the folder of ads of other pools."""
    folder = SHARED / "data" / "ads"
    if not folder.is_dir():
        pytest.skip(f"no real ads in {folder}: set NEGOTIATOR_SHARED")
    return folder
