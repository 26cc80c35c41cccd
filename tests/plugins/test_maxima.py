"""The maxima of queues: of what is in a queue and all below it together, whoever it belongs to."""

import pytest

from pools import cycle, denials, matched, slot, snapshot
from queueing import app, bundle

QUEUES = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: above
            parent: true
            maxapplications: 2
            resources: {max: {vcore: 3}}
            childtemplate: {maxapplications: 1, resources: {max: {vcore: 2}}}
            queues: [{name: low, maxapplications: 2, resources: {max: {memory: 0, vcore: 2}}}]
          - {name: other, resources: {max: {vcore: 5}}}
    placementrules: [{name: provided, create: true}]
"""


@pytest.fixture
def decide(tmp_path):
    return lambda *jobs: cycle(
        snapshot([slot(number) for number in range(9)], jobs), bundle(tmp_path / "b", QUEUES)
    )


def asks(cluster, proc=0, queue="root.other", **more):
    return app(cluster, proc, queue=queue, **({"RequestCpus": "1", "RequestMemory": "1"} | more))


def clusters(result):
    return sorted(match.job for match in result.matches)


def test_the_users_of_a_queue_share_its_maximum(decide):
    """It is nobody's own."""
    result = decide(*(asks(number, user=user) for number, user in enumerate("abcdefg")))
    assert clusters(result) == ["0.0", "1.0", "2.0", "3.0", "4.0"]
    assert denials(result)[0][2] == "queue root.other: vcore uses 5, needs 1, may have 5"


def test_every_queue_up_to_the_root_has_to_have_room(decide):
    """What a rule makes has the maxima of its parent's template."""
    jobs = [asks(1, proc, queue="root.above.new") for proc in range(3)]
    jobs += [asks(2, proc, queue="root.above.More") for proc in range(3)]
    result = decide(*jobs)
    assert clusters(result) == ["1.0", "1.1", "2.0"]
    assert {text.partition(":")[0] for _, _, text, _ in denials(result)} == {
        "queue root.above.new",
        "queue root.above",
    }


def test_running_applications_are_counted_in_all_queues_above(decide):
    """Two in root.above, one in each that a rule made there."""
    jobs = [asks(1, queue="root.above.a"), asks(2, queue="root.above.a"), asks(3, queue="root.above.b")]
    jobs += [asks(4, queue="root.above.c"), asks(5)]
    result = decide(*jobs)
    assert clusters(result) == ["1.0", "3.0", "5.0"]
    assert {text for _, _, text, _ in denials(result)} == {
        "running applications of root.above.a: uses 1, needs 1, may have 1",
        "running applications of root.above: uses 2, needs 1, may have 2",
    }


def test_a_maximum_of_nothing_denies(decide):
    """A job that asks for nothing of it runs."""
    result = decide(asks(1, queue="root.above.low"), asks(2, queue="root.above.low", RequestMemory="0"))
    assert clusters(result) == ["2.0"]
    assert [verdict for _, verdict, *_ in denials(result)] == ["denied"]


def test_a_queue_with_a_long_path_is_no_way_to_put_the_plugin_out_of_action(decide):
    """Users ask for queues; rules have names of bounded length."""
    long = "root.above." + ".".join(letter * 60 for letter in "abcdefg")
    result = decide(asks(1, queue=long), asks(2))
    assert result.failures == ()
    assert matched(result)
    assert "1.0" in clusters(result)
