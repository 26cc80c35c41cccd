"""``negotiator fetch`` as a command, with a live pool that a dropped-in plugin brings."""

import json
import subprocess
import sys

import pytest

SLOT = 'MyType = "Machine"\nName = "slot1@h"\nState = "Unclaimed"\nRequirements = true\n\n'
JOB = 'MyType = "Job"\nClusterId = 1\nProcId = 0\nOwner = "ann"\nUser = "ann@d"\nJobStatus = 1\nRequirements = true\n\n'
PLUGIN = """
from negotiator.plugin import ObservedPool, PoolError, PoolSource, Problem, Severity, Source, hookimpl

class Box(ObservedPool):
    where = "the box"

    def fetch(self, ads):
        ads.add("box", [{slot!r}, {job!r}])
        {behaviour}

def at(settings, address):
    if address == "nowhere":
        raise PoolError("nowhere: invalid address of a box")
    Box.where = address
    return settings

def served(settings, control):
    raise AssertionError("the pool is served")

@hookimpl
def negotiator_pool_sources():
    yield PoolSource("box", open=served, observe=lambda settings: Box(), at=at)
"""


@pytest.fixture
def fetch(tmp_path):
    """Return a function that runs the command with a plugin of this behaviour; its code, output and errors."""

    def run(*arguments, behaviour="pass", code=PLUGIN):
        plugins = tmp_path / "bundle" / "plugins"
        plugins.mkdir(parents=True, mode=0o755, exist_ok=True)
        (plugins / "box.py").write_text(code.format(slot=SLOT, job=JOB, behaviour=behaviour))
        (tmp_path / "bundle" / "pool.yaml").write_text("source: box\nplugins:\n  folders: [plugins]\n")
        return negotiator(tmp_path, "fetch", "--bundle", "bundle", *arguments)

    return run


def negotiator(folder, *arguments):
    command = [sys.executable, "-m", "negotiator", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_a_saved_pool_is_one_that_other_commands_read(tmp_path, fetch):
    assert fetch() == (0, "pool: 1 slot, 0 schedds, 0 submitters, 1 job\n", "")
    code, out, _ = negotiator(tmp_path, "run", "--bundle", "bundle", "pool", "--no-audit")
    assert code == 0
    assert out.startswith("Cycle 1 over 1 slot, 1 idle job: 1 matched")


def test_what_did_not_answer_is_named_and_the_rest_is_saved(tmp_path, fetch):
    silent = 'ads.add_problem(Problem(Severity.WARNING, Source("schedd s"), "no answer within 20 s"))'
    code, out, err = fetch("--json", behaviour=silent)
    assert code == 4
    assert json.loads(out)["unanswered"] == ["schedd s: warning: no answer within 20 s"]
    assert "no answer within 20 s" in err
    assert (tmp_path / "pool" / "jobs.ads").exists()


def test_a_pool_that_does_not_answer_is_not_saved(tmp_path, fetch):
    code, out, err = fetch("--to", "saved", behaviour='raise PoolError("the box is shut")')
    assert (code, out) == (4, "")
    assert "the box is shut" in err
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]


def test_a_folder_that_exists_is_replaced_only_if_that_is_wanted(fetch):
    assert fetch()[0] == 0
    code, _, err = fetch()
    assert code == 2
    assert "pool exists already: name another one, or use --replace" in err
    assert fetch("--replace", "--gzip")[0] == 0


def test_a_pool_can_be_named_by_its_address(fetch):
    code, _, err = fetch("somewhere", behaviour="raise PoolError(self.where)")
    assert (code, "somewhere" in err) == (4, True)
    code, _, err = fetch("nowhere")
    assert (code, "nowhere: invalid address of a box" in err) == (2, True)


def test_a_pool_without_addresses_is_named_by_its_bundle_only(fetch):
    code, _, err = fetch("somewhere", code=PLUGIN.replace(", at=at)", ")"))
    assert code == 2
    assert "the live pool of the bundle (box) has no address: leave out POOL" in err


def test_a_pool_that_cannot_be_observed_says_so(fetch):
    code, _, err = fetch(code=PLUGIN.replace("observe=lambda settings: Box(), ", ""))
    assert code == 4
    assert "the pools of the source box cannot be observed, only served" in err
