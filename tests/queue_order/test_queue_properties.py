"""The properties of queues: values, inheritance, and what check says of invalid ones."""

import pytest

from negotiator.bundle import check_bundle, default_bundle, load_bundle
from negotiator.plugin import (
    PreemptionPolicy,
    PriorityPolicy,
    QueueConfig,
    QueueSettings,
    QueueTree,
    SortPolicy,
    effective_settings,
    read_queue_property,
)

QUEUES = """\
partitions:
  - name: default
    nodesortpolicy: {type: binpacking}
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            resources: {guaranteed: {vcore: 2}}
            properties:
              %s: "%s"
"""


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("application.sort.policy", "fifo", SortPolicy.FIFO),
        ("application.sort.policy", "fair", SortPolicy.FAIR),
        ("application.sort.policy", "stateaware", SortPolicy.FIFO),
        ("application.sort.policy", "FAIR", None),
        ("application.sort.policy", "random", None),
        ("application.sort.priority", "enabled", True),
        ("application.sort.priority", "DISABLED", False),
        ("application.sort.priority", "true", None),
        ("priority.policy", "Fence", PriorityPolicy.FENCE),
        ("priority.policy", "default", PriorityPolicy.DEFAULT),
        ("priority.policy", "fenced", None),
        ("priority.offset", "-17", -17),
        ("priority.offset", "+3", 3),
        ("priority.offset", "2147483647", 2**31 - 1),
        ("priority.offset", "2147483648", None),
        ("priority.offset", "1.5", None),
        ("priority.offset", "\u0663", None),
        ("preemption.policy", "disabled", PreemptionPolicy.DISABLED),
        ("preemption.policy", "off", None),
        ("preemption.delay", "30s", 30.0),
        ("preemption.delay", "1h30m", 5400.0),
        ("preemption.delay", "1.5m", 90.0),
        ("preemption.delay", "250ms", 0.25),
        ("preemption.delay", "0s", None),
        ("preemption.delay", "-10s", None),
        ("preemption.delay", "10", None),
        ("preemption.delay", "10 s", None),
    ],
)
def test_a_value_is_read_as_yunikorn_reads_it_and_check_refuses_what_it_would_replace(
    tmp_path, key, text, value
):
    (tmp_path / "queues.yaml").write_text(QUEUES % (key, text), encoding="utf-8")
    (tmp_path / "pool.yaml").write_text("order: queues\n")
    errors = [each for each in check_bundle(tmp_path) if each.severity == "error"]
    if value is not None:
        assert read_queue_property(key, text) == value
        assert not errors
        return
    with pytest.raises(ValueError, match="expected"):
        read_queue_property(key, text)
    (error,) = errors
    assert (error.source.file, error.source.line) == ("queues.yaml", 11)
    assert error.message.startswith(f"root.a: invalid {key} ")
    assert error.hint.startswith("expected")


def queue(path, children=(), **properties):
    return QueueConfig(path, not children, properties=properties, children=tuple(children))


def test_a_managed_queue_inherits_what_it_does_not_set_but_priorities_and_preemption_only_as_disabled():
    inherited = {
        "application.sort.policy": "fair",
        "application.sort.priority": "disabled",
        "priority.policy": "fence",
        "priority.offset": "7",
        "preemption.policy": "fence",
        "preemption.delay": "5s",
    }
    off = queue("root.b.off", preemption_policy="x")
    tree = QueueTree.of(
        queue(
            "root",
            [
                queue("root.a", [queue("root.a.x", **{"application.sort.policy": "fifo"})], **inherited),
                queue("root.b", [off], **{"preemption.policy": "disabled"}),
            ],
        ),
        0.0,
    )
    found = effective_settings(tree)
    assert found["root.a.x"] == QueueSettings(SortPolicy.FIFO, by_priority=False, preemption_delay=5.0)
    assert found["root.a"].offset == 7
    assert found["root.b.off"].preemption is PreemptionPolicy.DISABLED


def test_a_queue_of_a_rule_has_the_effective_settings_its_template_alone():
    tree = QueueTree.of(
        queue("root", [queue("root.a", [queue("root.a.x")], **{"preemption.delay": "5s"})]), 0.0
    )
    mutable = tree.mutable()
    mutable.create("root.a.new", 0.0)
    assert effective_settings(mutable.view)["root.a.new"] == QueueSettings()
    assert effective_settings(mutable.view)["root.a.x"].preemption_delay == 5.0


@pytest.mark.parametrize("order", ["names", "submitters", "queues"])
def test_check_names_the_keys_that_the_order_does_not_follow(tmp_path, order):
    (tmp_path / "queues.yaml").write_text(QUEUES % ("application.sort.policy", "fair"))
    (tmp_path / "pool.yaml").write_text(f"order: {order}\n")
    notices = [each for each in check_bundle(tmp_path) if "no effect here" in each.message]
    if order == "queues":
        assert not notices
        return
    assert [(each.source.line, each.message, each.hint) for each in notices] == [
        (
            line,
            f"{text}: the order is {order}",
            "order: queues in pool.yaml follows it",
        )
        for line, text in (
            (3, "nodesortpolicy has no effect here"),
            (9, "guaranteed resources have no effect here, in any queue"),
            (11, "the property application.sort.policy has no effect here, in any queue"),
        )
    ]


def test_two_orders_are_refused(tmp_path):
    (tmp_path / "pool.yaml").write_text("order: [submitters, queues]\n")
    (error,) = [each for each in check_bundle(tmp_path) if each.severity == "error"]
    assert error.message == "order: takes one order, not a list"
    assert error.hint == "choose one of names, queues, submitters"


def test_the_default_bundle_has_no_problems_with_queues_in_order(tmp_path):
    (tmp_path / "pool.yaml").write_text((default_bundle() / "pool.yaml").read_text() + "\norder: queues\n")
    assert load_bundle(tmp_path).ordering.chosen.record.name == "queues"
