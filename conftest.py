"""What all tests share."""

from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the program.
settings.register_profile("project", deadline=None)
settings.register_profile("thorough", max_examples=10_000, deadline=None)
settings.load_profile("project")

AREAS = ("classad", "yunikorn", "gridengine", "negotiator")


#: Of the random examples of a test, in percent: others are drawn each time, so that many runs see what one does not.
EXAMPLES = 40
_LEAST = 10


def draw_fewer(function, percent):
    """Let a test with random examples draw a part of them, but not fewer than a few."""
    own = getattr(function, "_hypothesis_internal_use_settings", None)
    if own is not None:
        most = min(own.max_examples, max(_LEAST, own.max_examples * percent // 100))
        function._hypothesis_internal_use_settings = settings(own, max_examples=most)  # noqa: SLF001 - hypothesis has no other way


def pytest_addoption(parser):
    parser.addoption(
        "--cases",
        metavar="DIR",
        help="conformance cases to run instead of those in tests/conformance: a folder with classad/, yunikorn/,"
        " gridengine/ or negotiator/ in it",
    )
    parser.addoption(
        "--screenshots",
        action="store_true",
        help="tests of the pages in a browser write the screenshots of the documentation",
    )
    parser.addoption(
        "--slow-pools",
        action="store_true",
        help="also the tests marked slow_pool: scenes on real pools that take a minute each",
    )
    parser.addoption(
        "--examples",
        metavar="PERCENT",
        type=int,
        default=EXAMPLES,
        help="how many of their random examples tests draw; 100 is all  [default: %(default)s]",
    )


def pytest_collection_modifyitems(config, items):
    for item in items:
        draw_fewer(getattr(item, "function", None), config.getoption("examples"))
    if not config.getoption("slow_pools"):
        skipped = pytest.mark.skip(reason="takes a minute on a real pool: --slow-pools")
        for item in items:
            if item.get_closest_marker("slow_pool"):
                item.add_marker(skipped)


@pytest.fixture(scope="session")
def postgresql():
    """Return a real PostgreSQL server; skip the test, with the reason, where none is installed."""
    from debian import ProgramMissingError  # noqa: PLC0415 - few tests need it
    from postgresql_server import running_server  # noqa: PLC0415

    try:
        with running_server() as server:
            yield server
    except ProgramMissingError as error:
        pytest.skip(str(error))


def pytest_configure(config):
    cases = config.getoption("cases")
    if cases is None:
        return
    folder = Path(cases)
    if not folder.is_dir():
        raise pytest.UsageError(f"--cases {cases}: there is no such folder")
    if not any((folder / area).is_dir() for area in AREAS):
        expected = ", ".join(f"{area}/" for area in AREAS)
        raise pytest.UsageError(f"--cases {cases}: expected one or more of the folders {expected} in it")
