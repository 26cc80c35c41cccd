"""A cycle with its I/O: no match is delivered before it is on disk, and failures are recorded."""

import json

import pytest

import pools
from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from negotiator.runtime.run import OutcomeLostError, ReleaseError, Runtime
from negotiator.runtime.state import StateStore
from pools import job, slot, snapshot
from queueing import SettledPool, printed

DELIVERED, FAILED, UNKNOWN = DeliveryStatus.DELIVERED, DeliveryStatus.FAILED, DeliveryStatus.UNKNOWN

OBSERVER = """
import json, pathlib
from negotiator.plugin import hookimpl

@hookimpl
def negotiator_matches_made(matches, cycle):
    with pathlib.Path({path!r}).open("a") as out:
        out.write(json.dumps([match.id for match in matches]) + "\\n")
"""


class WatchingSettler:
    """A settler that delivers matches and stores the contents of the audit log at that time; some it cannot deliver."""

    def __init__(self, folder, lost=()):
        self.folder, self.lost, self.seen = folder, lost, None

    def settle(self, result, _vault):
        self.seen = _records(self.folder)
        return [
            Delivery(match, FAILED, "nobody there") if match.id in self.lost else Delivery(match, DELIVERED)
            for match in result.matches
        ]


def _records(folder):
    return [
        json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()
    ]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "audit"


@pytest.fixture
def log(folder):
    with AuditLog.open(folder, rotate_bytes=1 << 20) as opened:
        yield opened


def runtime(tmp_path, log, settler=None, show=printed):
    observed = tmp_path / "notes"
    bundle = pools.write_bundle(
        tmp_path / "bundle", plugins={"observer": OBSERVER.format(path=str(observed))}
    )
    ads = snapshot([slot(0), slot(1)], [job(0), job(1), job(2)])
    pool = SettledPool(lambda: ads, settler=settler)
    return Runtime(bundle, pool, lambda: pools.NOW, log, show=show), observed


def test_matches_are_in_the_log_before_they_are_handed_out(tmp_path, folder, log):
    settler = WatchingSettler(folder)
    run, _ = runtime(tmp_path, log, settler)
    report = run.cycle(1)
    assert [record["kind"] for record in settler.seen] == ["placement", "match", "match", "denial", "cycle"]
    assert [record["kind"] for record in _records(folder)][5:] == ["outcome"]
    assert report.head == log.head


def test_an_undelivered_match_is_recorded_and_hidden_from_observers(tmp_path, folder, log):
    run, observed = runtime(tmp_path, log, WatchingSettler(folder, lost={"1.1"}))
    run.cycle(1)
    outcome = _records(folder)[-1]
    assert (outcome["delivered"], outcome["failed"]) == (["1.2"], {"1.1": "nobody there"})
    assert json.loads(observed.read_text()) == ["1.2"]


def test_without_a_record_no_match_is_handed_out_or_observed(tmp_path, folder, log):
    settler = WatchingSettler(folder)
    run, observed = runtime(tmp_path, log, settler)
    log.close()
    with pytest.raises(AuditError):
        run.cycle(1)
    assert settler.seen is None
    assert not observed.exists()


def test_a_later_cycle_of_the_same_run_does_not_match_a_slot_or_a_job_again(tmp_path, log):
    run, _ = runtime(tmp_path, log)
    first, second = run.next_cycle(), run.next_cycle()
    assert [match.job for match in first.result.matches] == ["1.0", "1.1"]
    assert not second.result.matches
    waiting = {each.reason.code: each.count for each in second.result.discarded}
    assert waiting == {"slot_matched": 2, "job_matched": 2}


def test_an_undelivered_match_is_made_again(tmp_path, folder, log):
    run, _ = runtime(tmp_path, log, WatchingSettler(folder, lost={"1.1", "1.2"}))
    _, second = run.next_cycle(), run.next_cycle()
    assert len(second.result.matches) == 2


def test_a_failing_observer_is_reported_and_changes_nothing(tmp_path, log):
    broken = "from negotiator.plugin import hookimpl\n@hookimpl\ndef negotiator_matches_made():\n    1 / 0\n"
    bundle = pools.write_bundle(tmp_path / "bundle", plugins={"broken": broken})
    run = Runtime(bundle, SettledPool(lambda: snapshot([slot()], [job()])), lambda: pools.NOW, log)
    report = run.cycle(1)
    assert len(report.result.matches) == 1
    (failure,) = report.observers
    assert (failure.plugin, failure.hook) == ("broken", "negotiator_matches_made")
    assert "ZeroDivisionError" in failure.message


def test_an_outcome_that_cannot_be_recorded_names_the_matches_handed_out(tmp_path, folder, log):
    """The matches were delivered; the error lists them."""

    class LogClosingSettler(WatchingSettler):
        """A settler that closes the log."""

        def settle(self, result, _vault):
            log.close()
            return super().settle(result, _vault)

    run, _ = runtime(tmp_path, log, LogClosingSettler(folder))
    with pytest.raises(OutcomeLostError) as lost:
        run.cycle(1)
    assert "1.1" in str(lost.value) or "1.1" in str(lost.value.__dict__)


def test_a_state_that_fails_after_matches_were_handed_out_names_them_and_their_outcome_is_recorded(
    tmp_path, folder, log
):
    class StoreClosingSettler(WatchingSettler):
        def settle(self, result, _vault):
            deliveries = super().settle(result, _vault)
            store.close()
            return deliveries

    run, observed = runtime(tmp_path, log, StoreClosingSettler(folder, lost={"1.1"}))
    with StateStore.open(tmp_path / "state") as store:
        run.store = store
        with pytest.raises(ReleaseError, match=r"not delivered .*: 1\.1; handed out were: 1\.2$"):
            run.cycle(1)
    outcome = _records(folder)[-1]
    assert (outcome["kind"], outcome["delivered"]) == ("outcome", ["1.2"])
    assert not observed.exists()


def unwritable(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("show", "status"), [(printed, "printed"), (lambda *_: False, "unknown"), (unwritable, "unknown")]
)
def test_matches_of_a_pool_of_files_are_printed_or_unknown_but_never_delivered(
    tmp_path, folder, log, show, status
):
    """They are charged in any case: somebody may have read them."""
    run, observed = runtime(tmp_path, log, show=show)
    report = run.cycle(1)
    outcome = _records(folder)[-1]
    ids = {name: outcome[name] for name in ("delivered", "printed", "failed", "unknown") if outcome[name]}
    assert ids == {status: ["1.1", "1.2"]}
    assert json.loads(observed.read_text()) == ["1.1", "1.2"]
    assert len(run.state_manager.journal.entries) == len(report.result.matches) == 2


def test_the_output_is_written_before_the_outcome_is_recorded(tmp_path, folder, log):
    seen = []

    def show(*_):
        seen.extend(record["kind"] for record in _records(folder))
        return True

    run, _ = runtime(tmp_path, log, show=show)
    run.cycle(1)
    assert seen[-1] == "cycle"
    assert "outcome" not in seen


def test_a_lost_outcome_names_the_matches_that_may_have_been_handed_out(tmp_path, log):
    def closes(*_):
        log.close()
        return False

    run, _ = runtime(tmp_path, log, show=closes)
    with pytest.raises(OutcomeLostError, match=r"handed out were: none; unknown: 1\.1, 1\.2$"):
        run.cycle(1)
