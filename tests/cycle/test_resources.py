"""The amounts that jobs request, read by columns: equal to those of each job by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.bundle import load_bundle
from negotiator.classad import Ad, Environment, Table, parse
from negotiator.cycle.requests import RequestedAmounts

QUEUES = """
partitions:
- name: default
  queues:
  - {name: root, submitacl: "*", queues: [{name: default, resources: {max: {gpus: 4}}}]}
"""
VALUES = st.sampled_from(
    [
        *("0", "1", "2.5", "-3", "9e12", "9e18", "9223372036854775807", "true", '"4"', "undefined", "error"),
        *("(7)", 'real("inf")', "ImageSize + 1", "MY.ImageSize / 0", "TARGET.Memory", "Cpus * 2"),
    ]
)
NAMES = ("RequestCpus", "RequestMemory", "RequestGPUs", "ImageSize")
JOBS = st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, VALUES)), max_size=6)


@pytest.fixture(scope="module")
def amounts(tmp_path_factory):
    """Return the amounts under a bundle with three resources, of a pool whose slots have Cpus and Memory."""
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "queues.yaml").write_text(QUEUES)
    return RequestedAmounts(load_bundle(folder), Environment(), frozenset({"cpus", "memory"}))


@given(jobs=JOBS)
def test_amounts_read_by_columns_are_those_of_each_job_by_itself(amounts, jobs):
    """Constants are read by columns, expressions ad by ad; a value that depends on the slot specifies nothing."""
    ads = [Ad([(name, parse(text)) for name, text in each.items()]) for each in jobs]
    assert amounts.of_jobs(Table.from_ads(ads)) == [amounts.of_ad(ad) for ad in ads]
