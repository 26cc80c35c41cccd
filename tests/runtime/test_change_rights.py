"""Static settings and queues are changed under separate rights."""

import pytest

from negotiator.app.change import change_bundle
from negotiator.hooks.administration import Caller, ChangeStatus
from negotiator.hooks.command_targets import CommandTargets
from queueing import ME, QUEUES, World, bundle, records

POOL = "scheduleracl: boss\n"
SEPARATE = f"{POOL}queueconfigacl: operator\n"


@pytest.fixture
def change(tmp_path):
    """Return a function that changes a file as a user; whether it was written, and the last record of an administrator."""

    def changed(by, name, pool):
        folder = tmp_path / "bundle"
        with World(tmp_path, bundle(folder, pool=pool)):
            pass
        targets = CommandTargets(bundle=folder, state=tmp_path / "state", audit_log=tmp_path / "audit")
        content = {"queues.yaml": QUEUES, "pool.yaml": pool, "site.conf": ""}[name].encode()
        outcome = change_bundle(targets, Caller(by, ()), name, content)
        last = records(tmp_path / "audit", "admin")[-1]
        assert last["user"] == by
        return outcome.status is ChangeStatus.DONE, last["ok"], last["action"]

    return changed


@pytest.mark.parametrize(
    ("pool", "by", "settings", "queues"),
    [
        (POOL, "boss", True, True),
        (POOL, "operator", False, False),
        (SEPARATE, "boss", True, False),
        (SEPARATE, "operator", False, True),
        (SEPARATE, "head", False, False),
        (SEPARATE, ME, True, True),
        (f'{POOL}queueconfigacl: " "\n', "boss", True, False),
    ],
)
def test_the_name_of_the_file_decides_which_right_is_needed(change, pool, by, settings, queues):
    """Without a list of its own, the scheduler's list is for the queues too; denials are recorded with the same words."""
    for name in ("pool.yaml", "site.conf"):
        assert change(by, name, pool) == (settings, settings, "change")
    assert change(by, "queues.yaml", pool) == (queues, queues, "change_queues")
