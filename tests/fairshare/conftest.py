"""A folder with a state for the tests of ``negotiator userprio``."""

import pytest

from userprio_site import world_in


@pytest.fixture
def site(tmp_path):
    """Return a folder with a state after a cycle, in which tester got two slots."""
    with world_in(tmp_path) as world:
        world.cycle()
    return tmp_path
