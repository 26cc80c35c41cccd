"""Commands that read a state use the bundle that it belongs to, and refuse another one as ``run`` does."""

import json
import shutil

import pytest
from click.testing import CliRunner

from negotiator.cli import main
from negotiator.hooks.command_targets import CommandTargets
from negotiator.service.overviews import Overviews

QUEUES = """
partitions:
  - name: default
    placementrules: [{name: provided}, {name: fixed, value: root.other}]
    queues:
      - name: root
        submitacl: "*"
        limits:
          - {limit: one, users: ["*"], maxresources: {vcore: 1}}
        queues: [{name: other}, {name: q}]
"""
SLOT = (
    'MyType = "Machine"\nName = "slot{0}@n1"\nMachine = "n1"\nCpus = 1\nMemory = 1024\nRequirements = true\n'
)
JOB = """MyType = "Job"
ClusterId = {0}
ProcId = 0
JobStatus = 1
Owner = "ann"
User = "ann@example.org"
RequestCpus = 1
RequestMemory = 100
GlobalJobId = "s1#{0}.0#1"
Queue = "root.q"
Requirements = true
"""
#: What commands print that they do not under the built-in bundle.
READERS = {
    "queues": ("--json",),
    "usage": ("users",),
    "why": ("2",),
    "idle": (),
    "policies": (),
    "place": ("--user", "ann", "--queue", "root.q"),
    "report": ("report.html",),
    "userprio": ("--now", "1800000000"),
    "qquota": (),
}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with a bundle, a pool, and a state after one cycle."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "queues.yaml").write_text(QUEUES)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "queues.yaml").write_text(QUEUES.replace(", {name: q}", ""))
    ads = [*(SLOT.format(number) for number in (1, 2)), *(JOB.format(number) for number in (1, 2))]
    (tmp_path / "pool.ads").write_text("\n".join(ads))
    done = invoke("run", "--bundle", "one", "--state", "state", "--no-audit", "pool.ads")
    assert done.exit_code == 0, done.output
    return tmp_path


def invoke(*words):
    return CliRunner().invoke(main, list(words))


def read(command, *options):
    pool = () if command in {"userprio", "place", "report"} else ("--pool", "pool.ads")
    return invoke(command, *READERS[command], "--state", "state", *pool, *options)


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("command", READERS)
def test_a_command_without_a_bundle_answers_as_with_that_of_the_state(command):
    given, found = read(command, "--bundle", "one"), read(command)
    assert (found.exit_code, found.output) == (given.exit_code, given.output)


@pytest.mark.parametrize("command", READERS)
def test_a_command_with_another_bundle_is_refused_with_the_right_one_in_its_message(site, command):
    done = read(command, "--bundle", "other")
    assert done.exit_code == 2
    assert (
        f"belongs to the policy bundle {site / 'one'}, but the policy bundle {site / 'other'}" in done.output
    )
    assert f"use --bundle {site / 'one'}" in done.output


@pytest.mark.usefixtures("site")
def test_queues_are_active_limits_are_those_that_apply_and_no_slot_is_promised():
    """YUNIKORN-2527."""
    tree = json.loads(read("queues").stdout)
    assert {each["queuename"]: each["status"] for each in tree["children"]} == {
        "root.other": "Active",
        "root.q": "Active",
    }
    assert "100%" in read("usage").stdout
    assert "Waiting: user ann in root: vcore uses 1, needs 1, may have 1" in read("why").stdout


def test_the_service_follows_the_bundle_of_the_state(site):
    """Also after another bundle was requested; one that was started with the old one says why it shows nothing new."""
    pool = (site / "pool.ads",)
    found, named = (
        Overviews(CommandTargets(state=site / "state", pool=pool, bundle=bundle))
        for bundle in (None, site / "one")
    )
    for overviews in (found, named):
        overviews.refresh()
        assert overviews.failure == ""
        assert {str(each.state) for each in overviews.present.overview.contents.queues} == {"Active"}
    words = ("--state", "state", "--no-audit", "--change-bundle", "pool.ads")
    assert invoke("run", "--bundle", "other", *words).exit_code == 0
    for overviews in (found, named):
        overviews.refresh()
    assert (found.failure, found.present.overview.bundle.folder) == ("", site / "other")
    assert f"use --bundle {site / 'other'}" in named.failure


def test_the_files_of_the_bundle_may_have_another_place_or_text(site):
    shutil.copytree("one", "copy")
    assert read("queues", "--bundle", "copy").exit_code == 0
    (site / "one" / "queues.yaml").write_text(QUEUES.replace("vcore: 1", "vcore: 7"))
    assert "7" in read("usage").stdout


def test_a_bundle_that_is_gone_is_named(site):
    shutil.move("one", "moved")
    done = read("queues")
    assert done.exit_code == 2
    assert f"the policy bundle {site / 'one'}, which this state belongs to, is missing" in done.output
    assert read("queues", "--bundle", "moved").exit_code == 0


@pytest.mark.usefixtures("site")
def test_a_state_of_the_built_in_bundle_is_read_with_it():
    assert invoke("run", "--state", "plain", "--no-audit", "pool.ads").exit_code == 0
    assert invoke("queues", "--state", "plain").exit_code == 0
    assert invoke("queues", "--state", "plain", "--bundle", "one").exit_code == 2


def test_whatif_compares_with_the_bundle_of_the_state(site):
    (site / "draft.yaml").write_text(QUEUES.replace("vcore: 1", "vcore: 2"))
    words = ("whatif", "--state", "state", "--pool", "pool.ads", "--file", "queues.yaml=draft.yaml")
    done = invoke(*words)
    assert done.exit_code in {0, 1}, done.output
    assert f"{site / 'one'}" in done.output
    assert invoke(*words, "--bundle", "other").exit_code == 2
