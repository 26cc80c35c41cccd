"""``negotiator serve`` as a command, with a live pool that a dropped-in plugin brings."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from queueing import records

ADS = """MyType = "Machine"
Name = "slot{0}@h"
Machine = "h"
MyAddress = "<127.0.0.1:1>"
State = "Unclaimed"
Requirements = true
ClaimId = "<127.0.0.1:1>#1#{0}#secret{0}"

MyType = "Job"
ClusterId = {0}
ProcId = 0
Owner = "ann"
User = "ann@d"
JobStatus = 1
Requirements = true

"""
PLUGIN = """
from pathlib import Path
from negotiator.plugin import Delivery, DeliveryStatus, LivePool, PoolError, PoolSource, hookimpl

class Spool(LivePool):
    def __init__(self, settings, control):
        self.folder = Path(FOLDER)
        self.control = control

    def fetch(self, ads):
        if not self.folder.exists():
            raise PoolError("the spool does not answer")
        for file in sorted(self.folder.glob("*.ads")):
            ads.add(file.name, [file.read_text()])

    def deliver(self, decisions):
        for match in decisions.matches:
            claim = decisions.claims.take(match.slot)
            BEHAVIOUR
            (self.folder / f"{match.job}.claim").write_text(claim)
            yield Delivery(match, DeliveryStatus.DELIVERED)

    def cycle_ended(self, summary):
        ENDED

@hookimpl
def negotiator_pool_sources():
    yield PoolSource(name="spool", open=Spool)
"""


@pytest.fixture
def site(tmp_path):
    """Return a function that writes a bundle whose pool is a spool folder with so many slots and jobs."""

    def make(pairs, behaviour="pass", source="source: spool\n", ended="pass"):
        spool = tmp_path / "spool"
        if pairs is not None:
            spool.mkdir()
            (spool / "pool.ads").write_text("".join(ADS.format(number) for number in range(1, pairs + 1)))
        plugins = tmp_path / "bundle" / "plugins"
        plugins.mkdir(parents=True, mode=0o755)
        code = (
            PLUGIN.replace("FOLDER", repr(str(spool))).replace("BEHAVIOUR", behaviour).replace("ENDED", ended)
        )
        (plugins / "spool.py").write_text(code)
        (tmp_path / "bundle" / "pool.yaml").write_text(source + "plugins:\n  folders: [plugins]\n")
        return spool

    return make


def command(*arguments):
    return [sys.executable, "-m", "negotiator", "serve", "--bundle", "bundle", *map(str, arguments)]


def serve(folder, *arguments):
    done = subprocess.run(
        command(*arguments), cwd=folder, capture_output=True, check=False, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def outcomes(folder):
    return [record for record in records(folder / "var" / "audit") if record["type"] == "outcome"]


def test_each_match_is_delivered_with_the_claim_id_of_its_slot(tmp_path, site):
    spool = site(2)
    assert serve(tmp_path, "--cycles", 1)[0] == 0
    claims = {path.name: path.read_text() for path in spool.glob("*.claim")}
    assert set(claims) == {"1.0.claim", "2.0.claim"}
    assert {text.rpartition("#")[2] for text in claims.values()} == {"secret1", "secret2"}


def test_claim_ids_are_in_no_output_log_or_state(tmp_path, site):
    site(2)
    _, out, err = serve(tmp_path, "--cycles", 1, "--json", "--log-level", "debug")
    files = [path.read_bytes() for path in (tmp_path / "var").rglob("*") if path.is_file()]
    assert files
    assert not any(b"secret" in text for text in (out.encode(), err.encode(), *files))


def test_a_match_that_was_delivered_is_not_made_again_in_the_next_cycle(tmp_path, site):
    """The pool does not show it yet: its job still is idle, and its slot unclaimed."""
    site(1)
    assert serve(tmp_path, "--cycles", 1)[0] == 0
    _, out, _ = serve(tmp_path, "--cycles", 1, "--json")
    assert json.loads(out).get("match", []) == []


def test_a_match_that_could_not_be_delivered_is_released_and_made_again(tmp_path, site):
    failing = 'yield Delivery(match, DeliveryStatus.FAILED, "the schedd hung up"); continue'
    site(1, failing)
    _, out, err = serve(tmp_path, "--cycles", 2, "--every", 0, "--json")
    assert [len(json.loads(line).get("match", [])) for line in out.splitlines()] == [1, 1]
    assert err.count("the schedd hung up") == 2


def test_a_slot_whose_match_was_not_delivered_is_offered_again_at_once_but_not_for_ever(tmp_path, site):
    """The next cycle starts before its time; the one after it does not, and reloads while it waits are the next events."""
    failing = 'yield Delivery(match, DeliveryStatus.FAILED, "the schedd hung up"); continue'
    knobs = "NEGOTIATOR_MIN_INTERVAL: 0\nNEGOTIATOR_CYCLE_DELAY: 0\n"
    site(1, failing, source=f"source: spool\n{knobs}")
    with subprocess.Popen(
        command("--every", 100_000),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        lines = []
        while sum("number=" in line for line in lines) < 2:
            lines.append(process.stderr.readline())
        for _ in range(2):
            process.send_signal(signal.SIGHUP)
            lines.append(process.stderr.readline())
            while "reload" not in lines[-1]:
                lines.append(process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert sum("number=" in line for line in lines) == 2


def test_an_exception_while_matches_are_delivered_leaves_them_charged(tmp_path, site):
    """Somebody may have them."""
    site(1, 'raise ValueError("broken")')
    _, out, _ = serve(tmp_path, "--cycles", 2, "--every", 0, "--json")
    assert [len(json.loads(line).get("match", [])) for line in out.splitlines()] == [1, 0]


def test_a_pool_that_does_not_answer_costs_its_cycles_only(tmp_path, site):
    """The service goes on, and serves the pool once it answers."""
    spool = site(None)
    with subprocess.Popen(
        command("--every", "0.2"), cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        line = process.stderr.readline()
        assert "no cycle" in line
        assert "the spool does not answer" in line
        filling = spool.with_name("filling")
        filling.mkdir()
        (filling / "pool.ads").write_text(ADS.format(1))
        filling.rename(spool)
        while not list(spool.glob("*.claim")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 0


def test_the_pool_receives_the_summary_of_each_cycle(tmp_path, site):
    spool = site(2, ended='(self.folder / "ended").write_text(str(len(summary.matches)))')
    assert serve(tmp_path, "--cycles", 1)[0] == 0
    assert (spool / "ended").read_text() == "2"


def test_a_pool_that_fails_to_publish_a_cycle_is_reported_and_the_cycle_counts(tmp_path, site):
    site(1, ended='raise ValueError("no room")')
    code, out, err = serve(tmp_path, "--cycles", 1, "--json")
    assert code == 0
    assert "cycle_ended of the source spool" in err
    assert "ValueError: no room" in err
    assert len(json.loads(out)["match"]) == 1


def test_the_pool_can_start_the_next_cycle_before_its_time(tmp_path, site):
    site(1, ended="self.control.start_cycle()")
    assert serve(tmp_path, "--cycles", 2, "--every", 100_000)[0] == 0


def test_a_bundle_without_a_live_pool_is_refused_at_the_start(tmp_path, site):
    site(1)
    (tmp_path / "bundle" / "pool.yaml").write_text("source: tape\nplugins:\n  folders: [plugins]\n")
    code, _, err = serve(tmp_path, "--cycles", 1)
    assert code == 1
    assert "unknown source tape: known are" in err
    assert not list(tmp_path.glob("var/*"))


def test_it_ends_with_the_process_that_started_it(tmp_path, site):
    site(0)
    words = " ".join(command("--every", 1, "--end-with-parent"))
    starter = f"{words} 2> log & echo $!; while [ ! -e var/audit ]; do sleep 0.1; done; sleep 0.5"
    done = subprocess.run(
        ["sh", "-c", starter], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True, timeout=60
    )
    status = Path("/proc", done.stdout.strip(), "stat")
    end = time.monotonic() + 60
    while status.exists() and status.read_text().split()[2] != "Z":
        assert time.monotonic() < end
        time.sleep(0.1)
    assert "cycle" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        (
            "yield from (EvictionOutcome(each, accepted=True) for each in evictions)",
            {"1.0": True, "2.0": True},
        ),
        ("yield EvictionOutcome(evictions[1], accepted=False, text='no answer')", {"2.0": False}),
        (
            "yield EvictionOutcome(evictions[0], accepted=True); raise OSError('gone')",
            {"1.0": True, "2.0": False},
        ),
        ("yield 3", {"1.0": False, "2.0": False}),
    ],
)
def test_running_jobs_are_ended_by_the_plugin_and_its_answer_is_recorded(tmp_path, site, answer, accepted):
    """Of two running jobs; the cycle goes on whatever the plugin does, and what it leaves out was not asked for."""
    spool = site(
        2, source="source: spool\noverruns: vacate\noverrun_grace: 0\nNEGOTIATOR_PE_JOB_ONLY_EXPR: 'true'\n"
    )
    text = (
        (spool / "pool.ads").read_text().replace("JobStatus = 1\n", 'JobStatus = 2\nRemoteHost = "slot@h"\n')
    )
    for number in (1, 2):
        text = text.replace('RemoteHost = "slot@h"', f'RemoteHost = "slot{number}@h"', 1)
    (spool / "pool.ads").write_text(text)
    plugin = tmp_path / "bundle" / "plugins" / "spool.py"
    code = plugin.read_text().replace("import Delivery,", "import Delivery, EvictionOutcome,")
    body = f"    def evict(self, evictions):\n        {answer}\n\n    def cycle_ended"
    plugin.write_text(code.replace("    def cycle_ended", body))
    assert serve(tmp_path, "--cycles", 1)[0] == 0
    found = records(tmp_path / "var" / "audit")
    kinds = [(each["kind"], each.get("change"), each.get("job")) for each in found]
    asked = [kinds.index(("overrun", "evict", job)) for job in ("1.0", "2.0")]
    (outcome,) = [each for each in found if each["kind"] == "outcome"]
    assert max(asked) < found.index(outcome)
    assert {each["job"]: each["accepted"] for each in outcome["evicted"]} == accepted
