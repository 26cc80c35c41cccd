"""A site on which qconf is run."""

import pytest

from gridengine_sessions import ENV, ONE, Session
from gridengine_site import write_site


@pytest.fixture
def session(tmp_path):
    """A site with the set ``one``."""
    found = Session(tmp_path, lambda folder: write_site(folder, ENV))
    found.sets = ONE
    return found
