"""``negotiator diff``: what another bundle would decide otherwise, over a pool and over recorded cycles."""

import json
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

from negotiator.app.bundle_choice import BundleChoice
from negotiator.cli import main
from negotiator.errors import CommandError
from negotiator.hooks.command_targets import CommandTargets
from pools import NOW, job, slot, write_ads, write_bundle

OLD = "policies:\n  - {name: large, applies_to: match, expression: TARGET.Memory > 5000}\n"
NEW = OLD.replace("large", "larger").replace("5000", "8000")


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """Return a folder with two bundles, a pool, and two recorded cycles."""
    write_bundle(tmp_path / "old", OLD)
    write_bundle(tmp_path / "new", NEW)
    slots = [slot(n, Memory=str(4000 + 1500 * n)) for n in range(4)]
    write_ads(tmp_path / "pool.ads", *slots, *[job(n, RequestCpus="1") for n in range(4)])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEGOTIATOR_CONFIG", "")
    for now in (NOW, NOW + 60):
        ask("run", "--bundle", "old", "--no-audit", "--record", "rec", "--now", str(now), "pool.ads")
    return tmp_path


def ask(*words):
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_a_pool_is_decided_under_both_bundles():
    done = ask("diff", "old", "new", "--pool", "pool.ads", "--now", NOW, "--jobs")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0] == (
        "1 cycle: 3 matches before, 1 after; 0 gained, 2 lost, 1 on another slot, 1 wait for another reason"
    )
    (rule,) = [line.split() for line in lines if "larger (pool.yaml" in line and line.split()[0] == "2"]
    assert rule[:4] == ["2", "0", "1", "0"]
    assert sum("lost" in line.split() for line in lines) == 2
    assert len(ask("diff", "old", "new", "--pool", "pool.ads").output.splitlines()) <= 26


def test_recorded_cycles_are_decided_under_both_bundles_and_added_up():
    done = ask("diff", "old", "new", "--recorded", "rec", "--json")
    values = json.loads(done.output)
    assert (values["cycles"], values["total"]["before"], values["total"]["lost"]) == (2, 6, 4)
    assert values["users"]["tester"] == {"before": 6, "gained": 0, "lost": 4, "moved": 2, "reason": 2}
    recorded = ask("diff", "recorded", "new", "--recorded", "rec", "--json")
    assert {**json.loads(recorded.output), "before": ""} == {**values, "before": ""}
    assert ask("diff", "recorded", "old", "--recorded", "rec").output.startswith(
        "2 cycles: 6 matches before, 6 after; 0 gained"
    )


def test_the_output_is_the_same_with_several_processes_and_from_finished_results():
    words = "diff", "old", "new", "--recorded", "rec", "--json", "--jobs"
    expected = ask(*words).output
    assert ask(*words, "--engine", "processes:2", "--resume", "done").output == expected
    assert len(Path("done").read_text().splitlines()) == 2
    assert ask(*words, "--resume", "done").output == expected
    ask(*words[:-1], "--resume", "done")  # another task: no result of this one is used
    assert len(Path("done").read_text().splitlines()) == 4
    same = ask("diff", "old", "old", *words[3:], "--resume", "done")
    assert json.loads(same.output)["total"]["lost"] == 0


def test_the_queues_of_a_recorded_cycle_are_those_of_each_bundle(site):
    write_bundle(site / "limited", OLD)
    queues = "{name: root, submitacl: '*', queues: [{name: default, resources: {max: {vcore: 1}}}]}"
    rule = "{name: fixed, value: root.default}"
    (site / "limited" / "queues.yaml").write_text(
        f"partitions: [{{name: default, queues: [{queues}], placementrules: [{rule}]}}]\n"
    )
    done = ask("diff", "old", "limited", "--recorded", "rec", "--json")
    assert json.loads(done.output)["queues"]["root.default"]["lost"] == 4


def test_a_bundle_that_was_changed_meanwhile_is_refused(site):
    chosen = BundleChoice.of_folder(CommandTargets(bundle=site / "old"))
    assert chosen.bundle().digest == chosen.digest
    with pytest.raises(CommandError, match="the bundle was changed meanwhile"):
        attrs.evolve(chosen, digest="that of another time").bundle()


def test_a_refused_recording_leaves_the_others(site):
    (site / "rec" / "damaged.cycle").write_text("{}\n")
    done = ask("diff", "old", "new", "--recorded", "rec")
    assert (done.exit_code, "error: rec/damaged.cycle: the file is not a recorded cycle" in done.stderr) == (
        3,
        True,
    )
    assert done.stdout.splitlines()[0].startswith("2 cycles: 6 matches before")
    assert done.stdout.splitlines()[0].endswith(", 1 refused")


def test_wrong_calls_are_refused(site):
    done = ask("diff", "recorded", "new", "--pool", "pool.ads")
    assert (done.exit_code, "--recorded PATH" in done.output) == (2, True)
    (site / "new" / "pool.yaml").write_text("policies: 7\n")
    assert ask("diff", "old", "new", "--pool", "pool.ads").exit_code == 1
