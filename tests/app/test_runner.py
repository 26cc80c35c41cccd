"""The use case of running cycles: it calls an observer with everything that happens."""

import attrs
import pytest

import pools
import queueing
from negotiator.app.runner import open_runner, run_cycles
from negotiator.audit.errors import AuditError
from negotiator.hooks.command_targets import CommandTargets

POOL = """
MyType = "Machine"
Name = "slot1@host"
Requirements = true

MyType = "Job"
ClusterId = 1
ProcId = 0
Owner = "ann"
User = "ann@here"
GlobalJobId = "schedd#1.0#1"
JobStatus = 1
Requirements = true
"""


@attrs.define
class Collected:
    """Collects what happens, in order."""

    events: list[str] = attrs.field(factory=list)
    stations: list[str] = attrs.field(factory=list)

    def problems(self, problems):
        self.events.append(f"problems {len(list(problems))}")

    def notice(self, text):
        self.events.append(f"notice {text}")

    def admin(self, done):
        self.events.append(f"admin {done.request.action}")

    def reload(self, reload):
        self.events.append(f"reload {reload.trigger}")

    def progress(self, progress):
        self.stations.append(progress.station)

    def decisions(self, problems, result, bundle):
        self.events.append(f"decisions {len(problems)} {result.number} {result.digest == bundle.digest}")
        return True

    def cycle(self, report):
        self.events.append(f"cycle {report.result.number}")


@pytest.fixture
def targets(tmp_path):
    pools.write_bundle(tmp_path / "bundle")
    (tmp_path / "pool.ads").write_text(POOL)
    return CommandTargets(
        bundle=tmp_path / "bundle", pool=(tmp_path / "pool.ads",), audit_log=tmp_path / "audit"
    )


def test_an_observer_gets_the_warnings_of_the_bundle_then_every_cycle(targets):
    seen = Collected()
    run_cycles(targets, seen, count=2)
    assert [event.split()[0] for event in seen.events] == [
        "problems",
        *["decisions", "cycle"] * 2,
    ]
    assert seen.stations == ["admit", "place", "order", "match", "admit", "place", "order"]  # all are matched


def test_a_requested_reload_comes_before_the_next_cycle_which_uses_the_new_bundle(targets):
    seen = Collected()
    with open_runner(targets, audit=False) as runner:
        runner.reloader.request("signal")
        runner.run(seen)
    assert seen.events == ["reload signal", "decisions 0 1 True", "cycle 1"]


def test_an_error_of_the_observer_is_not_explained_as_one_of_the_cycle(targets):
    """A match of the cycle was handed out by then."""

    class Failing(Collected):
        def cycle(self, *_):
            raise AuditError("cannot print")

    with open_runner(targets, audit=False) as runner, pytest.raises(AuditError) as raised:
        runner.run(Failing())
    assert str(raised.value) == "cannot print"


def test_an_unwritable_audit_log_says_that_no_match_was_handed_out(targets):
    seen = Collected()
    with open_runner(targets) as runner:
        runner.runtime.audit.close()
        with pytest.raises(AuditError, match="no match was handed out"):
            runner.run(seen)
    assert seen.events == []


def test_an_error_of_a_later_cycle_is_limited_to_that_cycle(targets):
    """Matches of the first cycle were handed out."""

    class Closing(Collected):
        def cycle(self, report):
            super().cycle(report)
            runner.runtime.audit.close()

    seen = Closing()
    with (
        open_runner(targets) as runner,
        pytest.raises(AuditError, match="no match was handed out in this cycle"),
    ):
        runner.run(seen, count=2)
    assert seen.events[-1] == "cycle 1"


def test_the_outcome_of_matches_that_could_not_be_printed_is_recorded_as_unknown(targets):
    """Then the error of the output ends the run."""

    class Unwritable(Collected):
        def decisions(self, *_):
            raise BrokenPipeError(32, "Broken pipe")

    with open_runner(targets) as runner, pytest.raises(BrokenPipeError):
        runner.run(Unwritable())
    (outcome,) = queueing.records(targets.audit_log, "outcome")
    assert (outcome["printed"], outcome["unknown"]) == ([], [f"{outcome['cycle']}.1"])
