"""The maxima of queues: for all users of a queue and its children together."""

import pytest

from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
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
            queues: [{name: low, maxapplications: 2, resources: {max: {gpus: 0, vcore: 2}}}]
          - {name: other, resources: {max: {vcore: 5}}}
    placementrules: [{name: provided, create: true}]
"""


@pytest.fixture
def decide(tmp_path):
    return lambda *jobs: cycle(
        snapshot([slot(number) for number in range(9)], jobs), bundle(tmp_path / "b", QUEUES)
    )


def request(cluster, proc=0, queue="root.other", **more):
    return app(cluster, proc, queue=queue, **({"RequestCpus": "1", "RequestMemory": "1"} | more))


def clusters(result):
    return sorted(match.job for match in result.matches)


def test_the_users_of_a_queue_share_its_maximum(decide):
    """It is not a limit of each user."""
    result = decide(*(request(number, user=user) for number, user in enumerate("abcdefg")))
    assert clusters(result) == ["0.0", "1.0", "2.0", "3.0", "4.0"]
    assert denials(result)[0][2] == "queue root.other: vcore uses 5, needs 1, may have 5"


def test_the_maxima_of_all_queues_up_to_the_root_apply(decide):
    """A queue that a rule creates has the maxima of its parent's template."""
    jobs = [request(1, proc, queue="root.above.new") for proc in range(3)]
    jobs += [request(2, proc, queue="root.above.More") for proc in range(3)]
    result = decide(*jobs)
    assert clusters(result) == ["1.0", "1.1", "2.0"]
    assert {text.partition(":")[0] for _, _, text, _ in denials(result)} == {
        "queue root.above.new",
        "queue root.above",
    }


def test_running_applications_are_counted_in_all_queues_above(decide):
    """Two in root.above, one in each queue that a rule created there."""
    jobs = [
        request(1, queue="root.above.a"),
        request(2, queue="root.above.a"),
        request(3, queue="root.above.b"),
    ]
    jobs += [request(4, queue="root.above.c"), request(5)]
    result = decide(*jobs)
    assert clusters(result) == ["1.0", "3.0", "5.0"]
    assert {text for _, _, text, _ in denials(result)} == {
        "running applications of root.above.a: uses 1, needs 1, may have 1",
        "running applications of root.above: uses 2, needs 1, may have 2",
    }


def test_a_maximum_of_0_denies(decide):
    """A job that requests none of it is matched."""
    result = decide(request(1, queue="root.above.low", RequestGPUs="1"), request(2, queue="root.above.low"))
    assert clusters(result) == ["2.0"]
    assert [verdict for _, verdict, *_ in denials(result)] == ["denied"]


def test_a_queue_with_a_long_path_does_not_make_the_plugin_fail(decide):
    """Users request queues; the names of rules are bounded."""
    long = "root.above." + ".".join(letter * 60 for letter in "abcdefg")
    result = decide(request(1, queue=long), request(2))
    assert result.failures == ()
    assert matched(result)
    assert "1.0" in clusters(result)


def test_a_queue_that_drains_keeps_its_maximum(tmp_path):
    """The queues of the new bundle have no maxima, so that the plugin does nothing for these."""
    plain = "partitions: [{name: default, queues: [{name: root, submitacl: '*'}]}]"
    before, after = bundle(tmp_path / "a", QUEUES), bundle(tmp_path / "b", plain)
    pool = snapshot([slot(number) for number in range(9)], [request(1, proc) for proc in range(7)])
    first = cycle(pool, before)
    assert len(first.matches) == 5
    state = first.state.under(after, first.now)
    second = run_cycle(pool, after, Cycle(2, first.now, after.digest), state)
    assert second.matches == ()
    assert denials(second)[0][2] == "queue root.other: vcore uses 5, needs 1, may have 5"


def test_no_charges_are_asked_for_without_maxima(tmp_path):
    """Nor is another hook that has nothing to do under the settings of the bundle called in a cycle."""
    unlimited = (
        "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: other}]}]}]"
    )
    plain = bundle(tmp_path / "b", unlimited)
    calls = {each.name: each.calls for each in plain.hooks.plugins}
    assert cycle(snapshot([slot(1)], [request(1)]), plain).matches
    called = {each.name for each in plain.hooks.plugins if each.calls > calls[each.name]}
    assert not called & {"maxima", "quotasets", "fairshare"}
    assert "limits" in called
