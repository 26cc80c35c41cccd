"""What the daemons of a live pool may request of ``negotiator serve``, by a plugin with a thread of its own."""

import json
import os
import pwd
import subprocess
import sys

import pytest

from queueing import records

ME = pwd.getpwuid(os.geteuid()).pw_name
PLUGIN = """
import json, threading
from pathlib import Path
from negotiator.plugin import AccountChangeKind as Kind, AccountRequest, CommandError, LivePool, PoolSource, hookimpl

class Tools(LivePool):
    def __init__(self, settings, control):
        self.control, self.results = control, []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            self.requests(self.control)
        except Exception as error:
            self.results.append(f"{type(error).__name__}: {error}")
        Path(RESULTS).write_text(json.dumps(self.results))
        self.control.stop()

    def note(self, answer):
        self.results.append([answer.ok, answer.text])

    def requests(self, control):
        REQUESTS

    def fetch(self, ads):
        pass

    def deliver(self, decisions):
        return ()

    def close(self):
        self.thread.join()

@hookimpl
def negotiator_pool_sources():
    yield PoolSource(name="tools", open=Tools)
"""


@pytest.fixture
def requested(tmp_path):
    """Return a function that runs requests of a plugin, and returns what it noted."""

    def run(*lines, settings=""):
        plugins = tmp_path / "bundle" / "plugins"
        plugins.mkdir(parents=True, mode=0o755)
        results = tmp_path / "results"
        code = PLUGIN.replace("REQUESTS", "\n        ".join(lines)).replace("RESULTS", repr(str(results)))
        (plugins / "tools.py").write_text(code)
        (tmp_path / "bundle" / "pool.yaml").write_text(
            f"source: tools\nplugins:\n  folders: [plugins]\n{settings}"
        )
        command = [sys.executable, "-m", "negotiator", "serve", "--bundle", "bundle", "--every", "100000"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(results.read_text())

    return run


def test_an_account_is_changed_between_two_cycles_and_shown(tmp_path, requested):
    found = requested(
        f"by = {ME!r}",
        "self.note(control.change_account(by, AccountRequest(Kind.FACTOR, 'ann@d', 500.0), wait=60))",
        "self.results += [dict(ad) for ad in control.accounts() if ad['Name'] == 'ann@d']",
        "self.results.append(len(control.resources('ann@d')))",
    )
    assert found[0] == [True, "The priority factor of ann@d was set to 500"]
    assert found[1]["PriorityFactor"] == 500.0
    assert found[1]["IsAccountingGroup"] is False
    assert found[2] == 0
    (record,) = records(tmp_path / "var" / "audit", "admin")
    assert record["user"] == ME
    assert json.loads(record["change"]) == {"kind": "setfactor", "name": "ann@d", "value": 500.0}


def test_the_access_policy_decides_who_may_change_an_account(tmp_path, requested):
    ((ok, text),) = requested(
        "self.note(control.change_account('eve@d', AccountRequest(Kind.DELETE, 'ann@d'), wait=60))"
    )
    assert not ok
    assert "denied" in text
    (record,) = records(tmp_path / "var" / "audit", "admin")
    assert (record["user"], record["ok"]) == ("eve@d", False)


def test_an_invalid_change_is_refused_before_it_is_requested(tmp_path, requested):
    (text,) = requested("control.change_account('ann', AccountRequest(Kind.FACTOR, 'ann@d', 0.5))")
    assert text == "CommandError: setfactor needs a value from 1 to 1e+300"
    assert not records(tmp_path / "var" / "audit", "admin")


def test_an_order_without_accounts_says_so(requested):
    (text,) = requested("control.accounts()", settings="order: names\n")
    assert text == "CommandError: order: names keeps no accounts"


def test_the_bundle_is_loaded_again_on_request(requested):
    ((ok, text),) = requested(f"self.note(control.reload({ME!r}, wait=60))")
    assert ok
    assert text.startswith("the bundle was reloaded")


def test_who_waits_for_an_answer_is_released_when_the_negotiator_ends(requested):
    """The cycle is over, and none carries out the request any more."""
    ((ok, text),) = requested(
        "control.stop()",
        f"self.note(control.change_account({ME!r}, AccountRequest(Kind.RESET_ALL), wait=600))",
    )
    assert ok is None
    assert "the negotiator ends, and carries it out when it is started again" in text


def test_without_waiting_the_answer_is_that_the_request_waits(requested):
    ((ok, text),) = requested(f"self.note(control.change_account({ME!r}, AccountRequest(Kind.RESET_ALL)))")
    assert ok is None
    assert "as soon as the present cycle has ended" in text
