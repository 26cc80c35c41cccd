"""A pool that tests of the example bundles fill, and the decisions of a bundle about it."""

import pytest

import pools


class Pool:
    """A pool of the ads that a test puts into it."""

    def __init__(self):
        self.slots, self.jobs, self.schedds = [], [], []

    def slot(self, **changed):
        self.slots.append(pools.slot(len(self.slots), **changed))
        return self

    def job(self, **changed):
        self.jobs.append(pools.job(len(self.jobs), **changed))
        return self

    def schedd(self, **items):
        self.schedds.append(pools.ad(**items))
        return self

    def decide(self, folder):
        return pools.cycle(pools.snapshot(self.slots, self.jobs, self.schedds), folder)


@pytest.fixture
def pool():
    return Pool()
