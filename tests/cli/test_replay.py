"""``negotiator serve --set record=DIR`` and ``negotiator replay``: cycles are recorded, and decided the same again."""

import fcntl
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


def serve(*more, cycles=2):
    words = [
        "serve",
        "--bundle",
        "bundle",
        "--set",
        "pool_driver=files",
        "--pool",
        "pool.ads",
        "--every",
        "0",
    ]
    done = CliRunner().invoke(main, [*words, "--cycles", str(cycles), "--set", "record=rec", *more])
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
    assert not serve("--set", "record_which=failures")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("record_which=some", "write all, failures or a number from 1 on"),
        ("record_which=0", "write all, failures or a number from 1 on"),
        ("record_megabytes=0", "--set record_megabytes"),
        ("record_days=0", "--set record_days"),
    ],
)
@pytest.mark.usefixtures("site")
def test_wrong_settings_are_refused(setting, message):
    words = ["serve", "--bundle", "bundle", "--set", "pool_driver=files", "--pool", "pool.ads"]
    done = CliRunner().invoke(main, [*words, "--set", "record=rec", "--set", setting])
    assert (done.exit_code, message in done.output) == (2, True), done.output


def test_a_cycle_that_cannot_be_recorded_takes_place_and_is_reported(site):
    (site / "rec").write_text("a file")
    words = [
        "serve",
        "--bundle",
        "bundle",
        "--set",
        "pool_driver=files",
        "--pool",
        "pool.ads",
        "--every",
        "0",
    ]
    done = CliRunner().invoke(main, [*words, "--cycles", "1", "--set", "record=rec"])
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
    assert (done.exit_code, done.stderr) == (3, "error: pool.ads: the file is not a recorded cycle\n")


@pytest.mark.usefixtures("site")
def test_run_records_cycles_too():
    words = ["run", "--bundle", "bundle", "--no-audit", "--cycles", "2", "--record", "rec", "pool.ads"]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert ask("rec").output.endswith("2 cycles: 2 the same, 0 different\n")


@pytest.mark.usefixtures("site")
def test_a_refused_file_does_not_end_the_batch():
    first, second, third = serve(cycles=3)
    second.write_bytes(second.read_bytes()[:-9])
    done = ask("rec")
    assert done.exit_code == 3
    assert done.stderr == f"error: {second}: the recorded cycle is cut off in its part result\n"
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [str(first), str(third), "2 cycles"]
    assert done.stdout.endswith("2 the same, 0 different, 1 refused\n")


def test_the_bundle_of_many_cycles_is_loaded_once(site):
    (site / "bundle" / "plugins").mkdir(mode=0o755)
    loads = str(site / "loads")
    count = f"with open({loads!r}, 'a') as opened:\n    opened.write('x')\n"
    (site / "bundle" / "plugins" / "counting.py").write_text(count)
    (site / "bundle" / "pool.yaml").write_text(BUNDLE + "plugins: {folders: [plugins]}\n")
    serve(cycles=3)
    (site / "loads").unlink()
    assert ask("rec").output.endswith("3 the same, 0 different\n")
    assert (site / "loads").read_text() == "x"


@pytest.mark.usefixtures("site")
def test_results_of_an_earlier_call_are_used_unless_the_file_has_changed():
    _, second, _ = serve(cycles=3)
    assert "earlier" not in ask("rec", "--resume", "done").output
    kept = Path("done").read_text()
    done = ask("rec", "--resume", "done")
    assert done.output.endswith("3 cycles: 3 the same, 0 different, 3 decided earlier\n")
    rewritten(second, result=b"{}")
    done = ask("rec", "--resume", "done")
    assert done.output.endswith("3 cycles: 2 the same, 1 different, 2 decided earlier\n")
    Path("done").write_text(f'{kept}{{"cycle":"{"0" * 9000}')  # a write that was interrupted
    assert ask("rec", "--resume", "done").output.endswith("2 the same, 1 different, 2 decided earlier\n")
    assert ask("rec", "--resume", "done").output.endswith("2 the same, 1 different, 3 decided earlier\n")
    Path("done").write_text(kept[:-9])
    assert ask("rec", "--resume", "done").output.endswith("2 the same, 1 different, 1 decided earlier\n")


@pytest.mark.usefixtures("site")
def test_a_file_without_finished_results_is_refused_and_not_written():
    serve()
    before = Path("pool.ads").read_bytes()
    done = ask("rec", "--resume", "pool.ads")
    assert (done.exit_code, "pool.ads:1: not a finished result" in done.output) == (1, True), done.output
    assert Path("pool.ads").read_bytes() == before


@pytest.mark.usefixtures("site")
def test_a_damaged_finished_result_is_named():
    serve()
    ask("rec", "--resume", "done")
    Path("done").write_text(Path("done").read_text().replace('"matches":2', '"matches":"two"'))
    done = ask("rec", "--resume", "done")
    assert (done.exit_code, "is damaged (Expected `int`, got `str`" in done.stderr) == (1, True), done.output


@pytest.mark.usefixtures("site")
def test_two_calls_do_not_write_the_same_finished_results():
    serve()
    ask("rec", "--resume", "done")
    before = Path("done").read_text()
    with Path("done").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = ask("rec", "--resume", "done")
    assert (done.exit_code, "another process uses this file" in done.stderr) == (1, True), done.output
    assert Path("done").read_text() == before


STOPPING = """
import os, signal
from pathlib import Path
from negotiator.plugin import hookimpl

@hookimpl
def negotiator_gate_ads(kind, ads, cycle):
    if cycle.number > 1 and Path("stop").exists():
        os.kill(os.getpid(), signal.SIGINT)
    return ()
"""


def test_ctrl_c_ends_with_a_report_and_a_later_call_goes_on(site):
    (site / "plugins").mkdir(mode=0o755)
    (site / "plugins" / "stopping.py").write_text(STOPPING)
    serve("--plugins-dir", "plugins", cycles=3)
    words = "rec", "--plugins-dir", "plugins", "--resume", "done"
    (site / "stop").touch()
    done = ask(*words)
    assert (done.exit_code, done.output.splitlines()[-1]) == (
        130,
        "1 cycle: 1 the same, 0 different, stopped: 2 cycles not decided (the same command goes on)",
    )
    (site / "stop").unlink()
    assert ask(*words).output.endswith("3 cycles: 3 the same, 0 different, 1 decided earlier\n")
