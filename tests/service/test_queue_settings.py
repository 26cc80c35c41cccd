"""The settings of queues: REST, ``queues --json`` and the cycle have one value of each."""

import json
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app_client import app_client
from negotiator.bundle import load_bundle
from negotiator.cli import main
from negotiator.hooks.command_targets import CommandTargets
from negotiator.queues import QueueTree
from negotiator.service.overviews import Overviews
from negotiator.service.web_app import make_app
from negotiator_queue_order.queues import Queues

TREE = "/ws/v1/partition/default/queues"
PARTITIONS = "/ws/v1/partitions"
SLOT = 'MyType = "Machine"\nName = "slot1@n1"\nMachine = "n1"\nCpus = 1\nMemory = 1024\nRequirements = true\n'
#: What ``queues --json`` cannot have: it is about the use of a pool.
OF_USE = {"headroom", "pendingResource", "absUsedCapacity", "allocatedResource"}

PROPERTIES = {
    "application.sort.policy": ["fifo", "fair", ""],
    "application.sort.priority": ["enabled", "DISABLED", ""],
    "priority.policy": ["default", "Fence"],
    "priority.offset": ["0", "-3", "+12", "2147483647"],
    "preemption.policy": ["default", "fence", "disabled", "Disabled", ""],
    "preemption.delay": ["1s", "250ms", "90s", "1h30m", "1.5us"],
}
CHOSEN = st.fixed_dictionaries(
    {}, optional={key: st.sampled_from(texts) for key, texts in PROPERTIES.items()}
)
MAXIMA = st.sampled_from([None, {"vcore": 4}, {"memory": "8Gi", "gpus": 2}])
TEMPLATES = st.sampled_from(
    [None, {}, {"maxapplications": 3}, {"properties": {"preemption.policy": "fence"}}]
)


@st.composite
def trees(draw, depth=0):
    """A queue of queues.yaml with those below it."""
    queue = {"properties": draw(CHOSEN)}
    if depth:
        most = draw(MAXIMA)
        queue |= {"resources": {"max": most, "guaranteed": most}} if most and depth == 3 else {}
    names = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=3)) if depth < 3 else []
    if names or not depth:
        queue["queues"] = [{"name": name, **draw(trees(depth + 1))} for name in names]
        queue["parent"] = True
    if queue.get("parent"):
        queue |= {"childtemplate": template} if (template := draw(TEMPLATES)) is not None else {}
    return queue


def write(folder, root, order="queues", **partition):
    """Write a bundle with the queues below a root."""
    text = json.dumps(
        {"partitions": [{"name": "default", "queues": [{"name": "root", **root}], **partition}]}
    )
    (folder / "queues.yaml").write_text(text)
    (folder / "pool.yaml").write_text(f"order: {order}\n")
    (folder / "pool.ads").write_text(SLOT)


@contextmanager
def read(folder):
    """Return the queues of the REST interface, and of ``queues --json``, by path, with what is about use left out."""
    overviews = Overviews(CommandTargets(bundle=folder, pool=(folder / "pool.ads",)))
    overviews.refresh()
    assert overviews.failure == ""
    with app_client(make_app(overviews)) as client:
        rest = flat(client.get(TREE).json())
    done = CliRunner().invoke(
        main, ["queues", "--json", "--bundle", str(folder), "--pool", str(folder / "pool.ads")]
    )
    assert done.exit_code == 0, done.output
    yield rest, flat(json.loads(done.stdout))


def flat(queue):
    """Return a queue and those below it by path."""
    own = {key: value for key, value in queue.items() if key not in OF_USE | {"children"}}
    found = {queue["queuename"]: own}
    for child in queue.get("children", ()):
        found |= flat(child)
    return found


@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(root=trees())
def test_rest_the_command_and_the_cycle_agree_on_every_queue(tmp_path, root):
    write(tmp_path, root)
    with read(tmp_path) as (rest, printed):
        pass
    assert rest == printed
    nodes = Queues.of(QueueTree.of(load_bundle(tmp_path).partition.root, 0.0), {}).nodes
    assert {*nodes} == {*rest}
    for path, shown in rest.items():
        own = nodes[path].properties
        assert shown["prioritySorting"] is own.by_priority
        assert shown["preemptionEnabled"] is (own.preemption != "disabled")
        assert shown["isPreemptionFence"] is (own.preemption == "fence")
        assert shown["isPriorityFence"] is (own.priority == "fence")
        assert shown.get("priorityOffset", 0) == own.offset
        assert shown["sortingPolicy"] == own.sort
        assert shown.get("guaranteedResource", {}) == dict(nodes[path].guaranteed)


INHERITED = {
    "properties": {"application.sort.policy": "fair", "preemption.delay": "90s", "priority.offset": "7"},
    "queues": [
        {
            "name": "a",
            "properties": {
                "application.sort.priority": "disabled",
                "preemption.policy": "disabled",
                "priority.policy": "fence",
            },
            "childtemplate": {"maxapplications": 4},
            "queues": [
                {"name": "x"},
                {"name": "y", "parent": True, "childtemplate": {}},
                {"name": "z", "properties": {"preemption.policy": "fence", "priority.offset": "-2"}},
            ],
        }
    ],
}
SHOWN = ("sortingPolicy", "prioritySorting", "preemptionEnabled", "preemptionDelay", "isPreemptionFence")
PRIORITY = ("isPriorityFence", "priorityOffset")
NONE = (None, False, False, None, False, False, None)


@pytest.mark.parametrize(
    ("order", "partition", "path", "values"),
    [
        ("queues", {}, "root", ("fair", True, True, "30s", False, False, 7)),
        ("queues", {}, "root.a", ("fair", False, False, "30s", False, True, None)),
        ("queues", {}, "root.a.x", ("fair", False, False, "1m30s", False, False, None)),
        ("queues", {}, "root.a.y", ("fair", False, False, "30s", False, False, None)),
        ("queues", {}, "root.a.z", ("fair", False, True, "1m30s", True, False, -2)),
        (
            *("queues", {"preemption": {"enabled": False}}),
            *("root.a.z", ("fair", False, False, "1m30s", True, False, -2)),
        ),
        *((order, {}, path, NONE) for order in ("submitters", "names") for path in ("root", "root.a.x")),
    ],
)
def test_a_setting_is_inherited_as_in_yunikorn_and_not_shown_where_the_order_does_not_follow_it(
    tmp_path, order, partition, path, values
):
    write(tmp_path, INHERITED, order, **partition)
    with read(tmp_path) as (rest, printed):
        for found in (rest[path], printed[path]):
            assert tuple(map(found.get, (*SHOWN, *PRIORITY))) == values
        assert rest["root.a.y"]["template"] == {"maxApplications": 4}
        assert "template" not in rest["root.a.x"]
        assert rest["root.a.z"]["properties"] == {
            "application.sort.policy": "fair",
            "application.sort.priority": "disabled",
            "preemption.delay": "90s",
            "preemption.policy": "fence",
            "priority.offset": "-2",
            "priority.policy": "default",
        }


@pytest.mark.parametrize(
    ("order", "written", "expected"),
    [("queues", {}, True), ("queues", {"enabled": False}, False), ("submitters", {"enabled": True}, False)],
)
def test_the_partition_says_whether_a_cycle_preempts_between_queues(tmp_path, order, written, expected):
    write(tmp_path, INHERITED, order, preemption=written)
    overviews = Overviews(CommandTargets(bundle=tmp_path, pool=(tmp_path / "pool.ads",)))
    overviews.refresh()
    with app_client(make_app(overviews)) as client:
        (partition,) = client.get(PARTITIONS).json()
    assert partition["preemptionEnabled"] is expected


@pytest.mark.parametrize(
    ("delay", "shown"),
    [
        ("1s", "1s"),
        ("60s", "1m0s"),
        ("5400s", "1h30m0s"),
        ("36h", "36h0m0s"),
        ("1.5s", "1.5s"),
        ("250ms", "250ms"),
        ("1500us", "1.5ms"),
        ("1.5us", "1.5\u00b5s"),
        ("7ns", "7ns"),
        ("61.001s", "1m1.001s"),
    ],
)
def test_a_delay_is_written_as_yunikorn_writes_it(tmp_path, delay, shown):
    write(tmp_path, {"queues": [{"name": "a", "properties": {"preemption.delay": delay}}]})
    with read(tmp_path) as (rest, _):
        assert rest["root.a"]["preemptionDelay"] == shown
