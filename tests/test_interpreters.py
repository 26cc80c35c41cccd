"""Every CPython of this machine decides the same, byte for byte, with the pinned dependencies for its version."""

import functools
import shutil
import subprocess
import sys

import pytest

from interpreters import ROOT, VERSIONS, InterpreterMissingError, install, interpreter

OTHERS = [version for version in VERSIONS if version != f"{sys.version_info[0]}.{sys.version_info[1]}"]
POOL = ROOT / "examples" / "first-pool"
CYCLE = ("-m", "negotiator", "run", "--no-audit", "--json", "--now", "1790000000")
#: A cycle and an explanation by the Python interface, and the modules for plugins and their tests.
LIBRARY = """
import sys, negotiator as n, negotiator.plugin, negotiator.testing
result = n.run(n.read_pool(sys.argv[1]), now=1790000000)
print(*result.matches, *result.denials, *result.set_aside, result.explain("14.0").values, sep="\\n")
"""


@functools.cache
def printed(*words):
    """Return what this interpreter prints."""
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(done.stdout) > 1000
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module", params=OTHERS)
def other(request, wheel, tmp_path_factory):
    """Return a function that runs another interpreter, where the program and the pool are; skip if it is missing."""
    folder = tmp_path_factory.mktemp("other")
    try:
        found = interpreter(request.param)
        install(request.param, folder / "site", wheel)
    except InterpreterMissingError as error:
        pytest.skip(str(error))
    shutil.copytree(POOL, folder / "pool")

    def run(*words):
        done = found.run(folder, *words)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    run.folder = folder
    yield run
    shutil.rmtree(folder)


def test_a_cycle_prints_the_same_bytes(other):
    assert other(*CYCLE, "pool") == printed(*CYCLE, str(POOL))


def test_a_cycle_that_was_recorded_here_is_decided_in_the_same_way(other):
    printed(*CYCLE, "--record", str(other.folder / "recorded"), str(POOL))
    assert other("-m", "negotiator", "replay", "recorded").endswith("1 cycle: 1 the same, 0 different\n")


def test_the_library_gives_the_same_matches_and_explanations(other):
    assert other("-c", LIBRARY, "pool") == printed("-c", LIBRARY, str(POOL))


@pytest.mark.parametrize("command", ["run", "why", "audit why"])
def test_the_schema_of_an_output_is_the_same(other, command):
    words = ("-m", "negotiator", "schema", command)
    assert other(*words) == printed(*words)
