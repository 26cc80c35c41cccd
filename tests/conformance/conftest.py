"""The cases of a folder as tests: one for each file and evaluator, and a summary table."""

from collections import Counter
from pathlib import Path

import pytest

import condor_cases as condor
import gridengine
import yunikorn
from golden import Folder

HERE = Path(__file__).parent


def _folder(config):
    return Path(config.getoption("cases") or HERE)


def pytest_generate_tests(metafunc):
    """Parametrize by each file of ``classad/``, ``yunikorn/``, ``gridengine/`` and ``negotiator/``, and each section of sessions."""
    folder = _folder(metafunc.config)
    if "file_name" in metafunc.fixturenames:
        names = Folder(folder / "classad").files()
        _parametrize(metafunc, "file_name", names, f"{folder} has no classad/*.jsonl: nothing to run")
    if "queue_file" in metafunc.fixturenames:
        names = yunikorn.Folder(folder / "yunikorn").files()
        _parametrize(metafunc, "queue_file", names, f"{folder} has no yunikorn/*.yaml: nothing to run")
    if "quota_file" in metafunc.fixturenames:
        names = _quotas(folder).files()
        _parametrize(metafunc, "quota_file", names, f"{folder} has no gridengine/*.yaml: nothing to run")
    if "condor_file" in metafunc.fixturenames:
        names = condor.Folder(folder / "negotiator").files()
        _parametrize(metafunc, "condor_file", names, f"{folder} has no negotiator/*.yaml: nothing to run")
    if "quota_sessions" in metafunc.fixturenames:
        names = _quotas(folder).files_with_sessions()
        _parametrize(metafunc, "quota_sessions", names, f"{folder} has no sessions of qconf: nothing to run")


def _quotas(folder):
    return gridengine.Folder(folder / "gridengine", HERE / "gridengine")


def _parametrize(metafunc, name, values, reason):
    nothing = pytest.param(None, marks=pytest.mark.skip(reason=reason), id="none")
    metafunc.parametrize(name, values or [nothing])


@pytest.fixture(scope="session")
def classad_cases(request):
    """Return the folder of cases of the language."""
    return Folder(_folder(request.config) / "classad")


@pytest.fixture(scope="session")
def queue_cases(request):
    """Return the folder of cases of queues."""
    return yunikorn.Folder(_folder(request.config) / "yunikorn")


@pytest.fixture(scope="session")
def quota_cases(request):
    """Return the folder of cases of resource quota sets."""
    return _quotas(_folder(request.config))


@pytest.fixture(scope="session")
def condor_cases(request):
    """Return the folder of cases of negotiation cycles."""
    return condor.Folder(_folder(request.config) / "negotiator")


@pytest.fixture
def report(record_property):
    """Return a function that adds a line to the table at the end."""
    return lambda where, counts: record_property("conformance", (where, counts))


def pytest_terminal_summary(terminalreporter, config):
    """Print the counts of each file if a folder was given."""
    if not config.getoption("cases"):
        return
    terminalreporter.section(f"conformance: {_folder(config)}")
    total = Counter()
    for outcome in ("passed", "failed", "skipped"):
        for result in terminalreporter.getreports(outcome):
            for key, entry in getattr(result, "user_properties", ()):
                if key == "conformance":
                    where, counts = entry
                    total.update(counts)
                    terminalreporter.line(f"{where:50} {_counted(counts)}")
            if outcome == "skipped" and result.nodeid.startswith("tests/conformance/"):
                terminalreporter.line(f"not run: {result.longrepr[2].removeprefix('Skipped: ')}")
    terminalreporter.line(f"{'all':50} {_counted(total)}")


def _counted(counts):
    return ", ".join(f"{number} {what}" for what, number in counts.items() if number) or "0"
