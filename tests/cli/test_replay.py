"""``negotiator serve --record`` and ``negotiator replay``: cycles are recorded, and decided the same again."""

import json
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

from negotiator.audit.recorded_cycle import RecordedCycle
from negotiator.cli import main
from pools import job, slot, write_ads

BUNDLE = "policies:\n  - {name: fast, applies_to: startd, expression: MY.Mips < 5}\n"
PLUGIN = """
from negotiator.plugin import Filter, Verdict, hookimpl
import numpy as np

@hookimpl
def negotiator_filter_slots(request, slots):
    yield Filter(rule="odd", code="odd", verdict=Verdict.WAITING, allow=np.arange(len(slots)) % 2 == 0, text="odd slots rest")
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    (tmp_path / "bundle").mkdir(mode=0o755)
    (tmp_path / "bundle" / "pool.yaml").write_text(BUNDLE)
    write_ads(
        tmp_path / "pool.ads", *[slot(n, Mips=str(3 + n)) for n in range(4)], *[job(n) for n in range(3)]
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEGOTIATOR_CONFIG", "")
    return tmp_path


def serve(*more):
    words = ["serve", "--bundle", "bundle", "--pool-driver", "files", "--pool", "pool.ads", "--every", "0"]
    done = CliRunner().invoke(main, [*words, "--cycles", "2", "--record", "rec", *more])
    assert done.exit_code == 0, done.output
    return sorted(Path("rec").glob("*"))


def ask(*words):
    return CliRunner().invoke(main, ["replay", *map(str, words)])


def test_recorded_cycles_are_decided_the_same_again(site):
    files = serve()
    assert len(files) == 2
    (site / "bundle" / "pool.yaml").unlink()  # the recording has its own
    done = ask("rec")
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "2 cycles: 2 the same, 0 different")
    (first, _) = [json.loads(line) for line in ask("rec", "--json").output.splitlines()]
    assert (first["matches"], first["difference"], first["file"]) == (2, "", str(files[0]))


@pytest.mark.usefixtures("site")
def test_only_wanted_cycles_are_recorded():
    assert not serve("--record-which", "failures")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--record-which", "some", "write all, failures or a number from 1 on"),
        ("--record-which", "0", "write all, failures or a number from 1 on"),
        ("--record-megabytes", "0", "--record-megabytes"),
        ("--record-days", "0", "--record-days"),
    ],
)
@pytest.mark.usefixtures("site")
def test_wrong_settings_are_refused(option, value, message):
    words = ["serve", "--bundle", "bundle", "--pool-driver", "files", "--pool", "pool.ads"]
    done = CliRunner().invoke(main, [*words, "--record", "rec", option, value])
    assert (done.exit_code, message in done.output) == (2, True), done.output


def test_a_cycle_that_cannot_be_recorded_takes_place_and_is_reported(site):
    (site / "rec").write_text("a file")
    words = ["serve", "--bundle", "bundle", "--pool-driver", "files", "--pool", "pool.ads", "--every", "0"]
    done = CliRunner().invoke(main, [*words, "--cycles", "1", "--record", "rec"])
    assert (done.exit_code, "cannot record the cycle: File exists" in done.output) == (0, True), done.output


def rewritten(file, **changes):
    file.write_bytes(attrs.evolve(RecordedCycle.decode(file.read_bytes()), **changes).encode())


@pytest.mark.usefixtures("site")
def test_a_difference_is_printed_with_its_place():
    file, _ = serve()
    result = json.loads(RecordedCycle.decode(file.read_bytes()).result)
    result["cycle"][0]["matches"] = 9
    rewritten(file, result=json.dumps(result, sort_keys=True, separators=(",", ":")).encode())
    done = ask(file)
    assert (done.exit_code, "different: cycle[0].matches is 2 instead of 9" in done.output) == (1, True)


def test_other_plugins_than_in_the_recording_are_named(site):
    (site / "plugins").mkdir(mode=0o755)
    (site / "plugins" / "odd.py").write_text(PLUGIN)
    file, _ = serve("--plugins-dir", "plugins")
    done = ask(file)
    assert (done.exit_code, "other plugins take part than in the recorded cycle: odd" in done.output) == (
        1,
        True,
    )
    assert ask(file, "--plugins-dir", "plugins").exit_code == 0


@pytest.mark.usefixtures("site")
def test_a_file_that_others_may_write_is_refused():
    file, _ = serve()
    file.chmod(0o666)
    done = ask(file)
    assert (done.exit_code, "world-writable" in done.output or "every user" in done.output) == (1, True), (
        done.output
    )


@pytest.mark.usefixtures("site")
def test_a_recorded_bundle_cannot_write_outside_its_folder():
    file, _ = serve()
    rewritten(file, files={"../evil.yaml": b"x", "pool.yaml": b""})
    done = ask(file)
    assert (done.exit_code, "a file outside its folder" in done.output) == (3, True), done.output


def test_a_folder_without_recordings_and_a_file_of_another_kind_are_refused(site):
    (site / "rec").mkdir()
    assert "no recorded cycles (*.cycle) in this folder" in ask("rec").output
    done = ask("pool.ads")
    assert (done.exit_code, done.output) == (3, "error: pool.ads: the file is not a recorded cycle\n")
