"""The records of placements and of changes of queues."""

from attrs import evolve

from negotiator.audit.queueing import change_fields, placement_fields
from negotiator.hooks.placement import Application
from negotiator.placement import Placement, PlacementStep
from negotiator.placement.chain import ApplicationPlacement
from negotiator.queues import QueueChange, QueueChangeKind
from negotiator.records import Source

STEP = PlacementStep("provided", "root.a", "matched", "open", "placement", "1.0", Source("queues.yaml", 4, 9))


def placed(*steps, **application):
    return ApplicationPlacement(
        Application("sue", **application), 3, "12.0", Placement("root.a", "matched", tuple(steps))
    )


def test_a_placement_has_each_rule_with_its_place():
    """None for a rule that is built in."""
    built_in = evolve(STEP, rule="recovery", source=Source(""))
    fields = placement_fields(placed(STEP, built_in, groups=("dev",), queue="a", tags={"dept": "hr"}))
    first, second = fields.pop("steps")
    assert fields == {
        "user": "sue",
        "groups": ["dev"],
        "groups_left_out": 0,
        "requested_queue": "a",
        "tags": {"dept": "hr"},
        "forced": False,
        "jobs": 3,
        "first_job": "12.0",
        "queue": "root.a",
        "code": "matched",
        "steps_left_out": 0,
    }
    assert first == {
        "rule": "provided",
        "plugin": "placement",
        "version": "1.0",
        "source": "queues.yaml:4:9",
        "queue": "root.a",
        "code": "matched",
        "text": "open",
    }
    assert (second["rule"], second["source"]) == ("recovery", None)


def test_50_groups_50_tags_and_100_rules_are_recorded():
    """Groups and rules that are left out are counted."""
    for more in (0, 1):
        groups = tuple(f"g{number}" for number in range(50 + more))
        tags = {f"t{number}": "x" for number in range(50 + more)}
        fields = placement_fields(placed(*[STEP] * (100 + more), groups=groups, tags=tags))
        assert [len(fields[key]) for key in ("groups", "tags", "steps")] == [50, 50, 100]
        assert (fields["groups_left_out"], fields["steps_left_out"]) == (more, more)


def test_a_change_of_a_queue_has_its_time():
    change = QueueChange("root.a", QueueChangeKind.CREATED, 1700000000.25)
    assert change_fields(change) == {
        "queue": "root.a",
        "change": "created",
        "time": "2023-11-14T22:13:20.250Z",
    }
