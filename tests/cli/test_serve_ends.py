"""The ends of ``negotiator serve``, and of a pool that a reload closes, by a plugin with pools of its own."""

import signal

import pytest

from processes import LongCommand

PLUGIN = """
import sys, threading, time
from negotiator.plugin import LivePool, PoolSource, hookimpl

ADS = '''MyType = "Machine"
Name = "slot1@h"
Machine = "h"
State = "Unclaimed"
ClaimId = "<127.0.0.1:1>#1#1#secret"
Requirements = true

MyType = "Job"
ClusterId = 1
ProcId = 0
Owner = "ann"
User = "ann@d"
JobStatus = 1
Requirements = true

'''
controls = []

def say(text):
    print(text, file=sys.stderr, flush=True)

class Pool(LivePool):
    def __init__(self, settings, control):
        controls.append(control)
        say("opened")

    def fetch(self, ads):
        say("fetched")
        IN_FETCH
        ads.add("collector", [ADS])

    def deliver(self, decisions):
        return ()

    def cycle_ended(self, summary):
        AT_THE_END

    def close(self):
        say("closed")

@hookimpl
def negotiator_pool_sources():
    yield PoolSource(name="one", open=Pool)
    yield PoolSource(name="two", open=Pool)

@hookimpl
def negotiator_filter_slots():
    IN_A_CYCLE
"""
STOP_AND_HANG = "threading.Thread(target=controls[-1].stop).start()\n    while True: time.sleep(0.1)"


@pytest.fixture
def serving(tmp_path):
    """Return a function that writes a bundle with this plugin, and starts the program."""

    def start(*options, at_the_end="say('ended')", in_a_cycle="return ()", in_fetch="pass"):
        folder = tmp_path / "bundle" / "plugins"
        folder.mkdir(parents=True, mode=0o755)
        code = PLUGIN.replace("AT_THE_END", at_the_end).replace("IN_A_CYCLE", in_a_cycle)
        code = code.replace("IN_FETCH", in_fetch)
        (folder / "pools.py").write_text(code)
        choose("one")
        return LongCommand("serve", "--bundle", "bundle", *options, cwd=tmp_path)

    def choose(source):
        text = f"source: {source}\nplugins:\n  folders: [plugins]\n"
        (tmp_path / "bundle" / "pool.yaml").write_text(text)

    start.choose = choose
    return start


def test_a_reload_closes_a_pool_with_other_settings_at_once(serving):
    """The next cycle is a day away: until then the old pool would serve those who may not use it any more."""
    with serving("--every", "86400") as command:
        command.wait_for("ended")
        serving.choose("two")
        command.signal(signal.SIGHUP)
        for text in ("closed", "opened", "fetched"):
            command.wait_for(text)
        command.signal(signal.SIGTERM)
        assert command.end() == 0


def test_a_reload_without_other_settings_leaves_the_pool_open(serving):
    with serving("--every", "86400") as command:
        command.wait_for("ended")
        command.signal(signal.SIGHUP)
        command.wait_for("reload")
        command.signal(signal.SIGTERM)
        assert command.end() == 0
    assert command.lines.count("closed") == command.lines.count("opened") == 1


def test_sentences_on_peers_in_the_last_cycle_are_logged(serving):
    with serving("--cycles", "1", at_the_end="controls[-1].notice('a late peer')") as command:
        assert command.end() == 0
    assert any("a late peer" in line for line in command.lines)


def test_the_turns_of_a_cycle_are_progress(serving):
    """The last progress is later than the end of ``fetch``, which noted none."""
    fetch = "global fetched; fetched = time.monotonic()"
    end = "say(f'progress: {controls[-1].idle_seconds() < time.monotonic() - fetched}')"
    with serving("--cycles", "1", in_fetch=fetch, at_the_end=end) as command:
        assert command.end() == 0
    assert "progress: True" in command.lines


def test_a_tool_of_the_pool_ends_a_process_whose_plugin_hangs(serving):
    """As SIGTERM does."""
    with serving("--every", "86400", in_a_cycle=STOP_AND_HANG) as command:
        command.wait_for("negotiator_filter_slots of plugin pools did not return within 10 s")
        assert command.end() == -signal.SIGTERM


@pytest.mark.parametrize("place", ["in_fetch", "at_the_end"])
def test_a_signal_ends_a_process_whose_pool_hangs(serving, place):
    """Its plugin may wait for a daemon that never answers."""
    with serving(
        "--every", "86400", **{place: "say('hangs')\n        while True: time.sleep(0.1)"}
    ) as command:
        command.wait_for("hangs")
        command.signal(signal.SIGTERM)
        assert command.end() == -signal.SIGTERM
    assert any("of the source one" in line or "the source one of" in line for line in command.lines)
