"""A small third-party plugin of each kind: it imports ``negotiator.plugin`` only, and is tested with ``negotiator.testing``."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from negotiator.plugin import (
    AccessKind,
    AccessQuestion,
    AdKind,
    Application,
    Caller,
    CounterUsage,
    QueueTarget,
)
from negotiator.testing import call, cycle, cycle_record, queues, request, rule, summary, table

FOLDER = Path(__file__).parent / "third_party"
RACKS = 'Name = "a"\nRack = "r1"\n\nName = "b"\nRack = "r2"'


ROOT = Path(__file__).parents[2]
EXAMPLES = [
    ROOT / "examples/maintenance/maintenance.py",
    ROOT / "examples/csv-matches/negotiator_csv_matches/__init__.py",
]


@pytest.mark.parametrize("file", [*sorted(FOLDER.glob("*.py")), *EXAMPLES], ids=lambda file: file.stem)
def test_a_third_party_plugin_imports_the_public_door_only(file):
    tree = ast.parse(file.read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
    assert {name for name in modules if name.startswith("negotiator")} == {"negotiator.plugin"}


def test_a_gate_discards_ads():
    now = cycle_record().now
    ads = table(f"LastHeardFrom = {now - 901:.0f}\n\nLastHeardFrom = {now:.0f}")
    (gate,) = call(FOLDER / "gate.py", "negotiator_gate_ads", kind=AdKind.STARTD, ads=ads)
    assert gate.discard.tolist() == [True, False]
    result = cycle(f'Name = "a"\n\nName = "b"\nLastHeardFrom = {now:.0f}', "", plugins=[FOLDER / "gate.py"])
    (discarded,) = result.discarded
    assert (discarded.kind, discarded.reason.code, discarded.count) == (AdKind.STARTD, "stale", 1)
    assert discarded.examples == ("a",)


def test_a_filter_removes_the_slots_that_it_does_not_allow():
    (answer,) = call(
        FOLDER / "slot_filter.py",
        "negotiator_filter_slots",
        request=request('WantedRack = "r2"'),
        slots=table(RACKS),
    )
    assert answer.allow.tolist() == [False, True]
    result = cycle(RACKS, 'WantedRack = "r2"\n\nWantedRack = "r3"', plugins=[FOLDER / "slot_filter.py"])
    assert result.pairs == (("1.0", "b"),)
    (denial,) = result.denials
    assert (denial.first_job, denial.jobs, "other_rack" in denial.codes) == ("1.1", 1, True)


def test_a_charge_limits_what_is_matched():
    """With settings from the bundle."""
    bundle = {"pool.yaml": "jobs_per_user: 2\n"}
    jobs = "\n\n".join(f"ProcId = {number}" for number in range(3))
    slots = "\n\n".join(f'Name = "s{number}"' for number in range(4))
    result = cycle(slots, jobs, bundle, [FOLDER / "charge.py"])
    assert len(result.matches) == 2
    (denial,) = result.denials
    assert denial.jobs == 1
    (reason,) = [each.reason for each in denial.reasons if each.reason.code == "too_many_jobs"]
    assert reason.text == "jobs of alice: uses 2, needs 1, may have 2"
    used = CounterUsage({("jobs", "alice"): 2}, {}, {})
    assert call(FOLDER / "charge.py", "negotiator_usage", report="jobs", used=used) == (
        {"user": "alice", "jobs": 2},
    )


def test_a_placement_rule_gives_the_queue():
    (kind,) = call(FOLDER / "placement_rule.py", "negotiator_placement_rules")
    assert kind.target(Application("bob", tags={"project": "dune"}), rule()) == QueueTarget("dune")
    assert kind.target(Application("bob"), rule()) is None
    bundle = {
        "queues.yaml": """
partitions:
  - name: default
    placementrules:
      - name: project
        create: true
    queues:
      - name: root
        submitacl: "*"
"""
    }
    slots, jobs = 'Name = "a"\n\nName = "b"', 'Project = "dune"'
    result = cycle(slots, jobs, bundle, [FOLDER / "placement_rule.py"])
    assert [match.queue for match in result.matches] == ["root.dune"]


def test_an_access_policy_decides_who_may_submit():
    questions = [AccessQuestion(user, (), AccessKind.SUBMIT, "root.a") for user in ("mallory", "bob")]
    answers = call(
        FOLDER / "access_policy.py", "negotiator_access", questions=questions, queues=queues({"root.a": ""})
    )
    assert [answer.decision for answer in answers] == ["forbid", "grant"]
    result = cycle(
        'Name = "a"\n\nName = "b"',
        'Owner = "mallory"\n\nOwner = "bob"',
        plugins=[FOLDER / "access_policy.py"],
    )
    assert [match.job for match in result.matches] == ["1.1"]


def test_an_observer_sees_the_whole_cycle(tmp_path):
    report = tmp_path / "report.txt"
    settings = SimpleNamespace(cycle_report=str(report))
    assert call(FOLDER / "observer.py", "negotiator_cycle_ended", summary=summary(), settings=settings) == ()
    assert report.read_text() == "cycle 1: 0 matched, 0 waiting\n"


def test_a_command_is_run_with_any_context():
    (command,) = call(FOLDER / "greeting_command.py", "negotiator_commands")
    context = SimpleNamespace(caller=lambda: Caller("ann", ("staff",)))
    assert CliRunner().invoke(command, obj=context).output == "ann of staff\n"
