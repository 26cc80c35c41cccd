"""The REST interface in YuniKorn's shapes, as its web UI and other clients read it.

The keys are those of YuniKorn's ``pkg/webservice/dao``; which of them its web UI reads is in its ``scheduler.service.ts``.
"""

from collections import Counter
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

BASE = "/ws/v1"
PARTITION = f"{BASE}/partition/default"
#: Keys that are there whatever their value; others are absent if it is zero or empty.
ALWAYS_OF_QUEUE = {
    *("queuename", "partition", "isLeaf", "isManaged", "currentPriority", "prioritySorting"),
    *("preemptionEnabled", "isPreemptionFence", "isPriorityFence"),
}
OF_QUEUE = ALWAYS_OF_QUEUE | {
    *("status", "pendingResource", "maxResource", "guaranteedResource", "allocatedResource", "headroom"),
    *("properties", "parent", "template", "children", "childNames", "absUsedCapacity", "maxRunningApps"),
    *("runningApps", "sortingPolicy"),
}


def read(client, path):
    """Return the values of an answer."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def walk(queue):
    """Yield a queue and all below it."""
    yield queue
    for child in queue["children"]:
        yield from walk(child)


def total(amounts):
    """Add amounts by resource."""
    found = Counter()
    for each in amounts:
        found.update(each)
    return dict(found)


@pytest.fixture(scope="module")
def queues(client):
    return list(walk(read(client, f"{PARTITION}/queues")))


@pytest.fixture(scope="module")
def applications(client, queues):
    found = []
    for queue in queues:
        found += read(client, f"{PARTITION}/queue/{queue['queuename']}/applications")
    return found


@pytest.fixture(scope="module")
def nodes(client):
    return read(client, f"{PARTITION}/nodes")


def test_the_cluster_names_the_partition(client):
    (cluster,) = read(client, f"{BASE}/clusters")
    assert set(cluster) == {"startTime", "rmBuildInformation", "partition", "clusterName"}
    assert cluster["partition"] == "default"
    assert cluster["startTime"] > 10**18  # nanoseconds
    assert cluster["rmBuildInformation"][0]["buildVersion"]


def test_the_partition_counts_nodes_containers_and_applications_by_state(client, applications, nodes):
    (partition,) = read(client, f"{BASE}/partitions")
    assert partition["name"] == "default"
    assert partition["state"] == "Active"
    assert partition["nodeSortingPolicy"] == {"type": "fair"}
    assert partition["totalNodes"] == len(nodes)
    assert partition["totalContainers"] == sum(len(each.get("allocations", ())) for each in applications)
    states = Counter(each["applicationState"] for each in applications)
    assert {state: partition["applications"][state] for state in states} == states
    assert partition["applications"]["total"] == sum(
        count for state, count in partition["applications"].items() if state != "total"
    )


def test_a_queue_has_yunikorns_keys_and_none_without_a_value(queues):
    for queue in queues:
        assert ALWAYS_OF_QUEUE <= set(queue) <= OF_QUEUE
        optional = set(queue) - ALWAYS_OF_QUEUE - {"children"}
        assert all(queue[key] not in ({}, [], "", 0) for key in optional)


def test_queues_name_their_parents_and_children(queues):
    by_path = {queue["queuename"]: queue for queue in queues}
    for queue in queues:
        below = [each["queuename"] for each in queue["children"]]
        assert queue.get("childNames", []) == below
        assert all(by_path[path]["parent"] == queue["queuename"] for path in below)
        assert queue["isLeaf"] is not bool(below) or not queue["isLeaf"]


def test_a_queue_uses_what_its_applications_and_the_queues_below_it_use(queues, applications):
    for queue in queues:
        own = [each for each in applications if each["queueName"] == queue["queuename"]]
        for key, of_application in (
            ("allocatedResource", "usedResource"),
            ("pendingResource", "pendingResource"),
        ):
            parts = [each.get(of_application, {}) for each in own]
            parts += [each.get(key, {}) for each in queue["children"]]
            assert queue.get(key, {}) == total(parts)


def test_shares_are_percent_of_the_maximum_and_the_headroom_is_the_least_up_to_the_root(queues):
    by_path = {queue["queuename"]: queue for queue in queues}
    for queue in queues:
        most, used = queue.get("maxResource", {}), queue.get("allocatedResource", {})
        expected = {name: used[name] * 100 // most[name] for name in most if name in used}
        assert queue.get("absUsedCapacity", {}) == expected
        above = by_path[queue["parent"]]["headroom"] if "parent" in queue else {}
        own = {name: amount - used.get(name, 0) for name, amount in most.items()}
        least = {
            name: min(each[name] for each in (above, own) if name in each)
            for name in above.keys() | own.keys()
        }
        assert queue.get("headroom", {}) == least


def test_one_queue_is_that_of_the_tree_and_has_its_children_only_as_a_subtree(client, queues):
    for queue in queues:
        path = f"{PARTITION}/queue/{queue['queuename']}"
        assert read(client, f"{path}?subtree") == queue
        assert read(client, path) == {key: value for key, value in queue.items() if key != "children"}


def test_an_allocation_is_a_job_on_a_slot_with_the_tags_that_the_web_ui_names_it_by(applications):
    found = [each for application in applications for each in application.get("allocations", ())]
    assert found
    for application in applications:
        allocations = application.get("allocations", ())
        assert application.get("usedResource", {}) == total(each["resource"] for each in allocations)
        assert application["applicationState"] == ("Running" if allocations else "Accepted")
        for each in allocations:
            tags = each["allocationTags"]
            assert tags["kubernetes.io/meta/namespace"] == application["user"]
            cluster = tags["kubernetes.io/meta/podName"].partition(".")[0]
            assert application["applicationID"].endswith(f"#{cluster}")
            assert each["queueName"] == application["queueName"]
            assert each["partition"] == "default"


def test_states_of_an_application_come_in_their_order(applications):
    for application in applications:
        times = [each["time"] for each in application["stateLog"]]
        assert all(earlier <= later for earlier, later in pairwise(times))
        assert application["submissionTime"] == times[0]


def test_an_application_is_found_with_and_without_its_queue(client, applications):
    for application in applications:
        name = application["applicationID"].replace("#", "%23")
        assert read(client, f"{PARTITION}/application/{name}") == application
        assert read(client, f"{PARTITION}/queue/{application['queueName']}/application/{name}") == application


def test_a_node_is_a_machine_with_what_its_slots_have_and_its_jobs_use(client, nodes):
    for node in nodes:
        assert read(client, f"{PARTITION}/node/{node['nodeID']}") == node
        used = node.get("allocated", {})
        assert used == total(each["resource"] for each in node.get("allocations", ()))
        left = {name: amount - used.get(name, 0) for name, amount in node["capacity"].items()}
        assert node["available"] == left
        assert all(each["nodeId"] == node["nodeID"] for each in node.get("allocations", ()))
    assert any(node.get("utilized") for node in nodes)


def test_each_node_is_in_one_tenth_of_each_resource_that_it_has(client, nodes):
    (utilization,) = read(client, f"{BASE}/scheduler/node-utilizations")
    assert utilization["partition"] == "default"
    for resource in utilization["utilizations"]:
        tenths = resource["utilization"]
        assert [each["bucketName"] for each in tenths] == [f"{at}-{at + 10}%" for at in range(0, 100, 10)]
        names = [name for each in tenths for name in each.get("nodeNames", ())]
        assert sorted(names) == sorted(
            node["nodeID"] for node in nodes if resource["type"] in node["capacity"]
        )
        for place, each in enumerate(tenths):
            for name in each.get("nodeNames", ()):
                (node,) = (node for node in nodes if node["nodeID"] == name)
                share = node.get("utilized", {}).get(resource["type"], 0)
                assert place * 10 < share <= place * 10 + 10 or (place == 0 and share == 0)


@pytest.mark.parametrize(("kind", "key"), [("user", "userName"), ("group", "groupName")])
def test_usage_is_by_queue_from_the_root_down(client, kind, key):
    entries = read(client, f"{PARTITION}/usage/{kind}s")
    assert entries
    for entry in entries:
        assert entry["queues"]["queuePath"] == "root"
        assert read(client, f"{PARTITION}/usage/{kind}/{entry[key]}") == entry


def test_placement_rules_are_those_of_the_bundle_and_the_recovery_rule_last(client):
    rules = read(client, f"{PARTITION}/placementrules")
    assert rules == [
        {"name": "provided", "parameters": {"create": "true"}},
        {"name": "fixed", "parameters": {"create": "false", "queue": "root.default", "qualified": "true"}},
        {"name": "recovery", "parameters": {"queue": "root.@recovery@"}},
    ]


def test_the_history_has_what_runs_now(client, applications):
    apps, containers = read(client, f"{BASE}/history/apps"), read(client, f"{BASE}/history/containers")
    running = [each for each in applications if each["applicationState"] == "Running"]
    assert apps[-1]["totalApplications"] == str(len(running))
    assert containers[-1]["totalContainers"] == str(sum(len(each["allocations"]) for each in running))


def test_the_health_check_names_each_check(client):
    health = read(client, f"{BASE}/scheduler/healthcheck")
    assert health["Healthy"] is all(each["Succeeded"] for each in health["HealthChecks"])
    assert {"Pool", "Plugins", "Nodes"} == {each["Name"] for each in health["HealthChecks"]}


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/partition/other/queues", 404, "Partition not found"),
        ("/partition/default/queue/root.none", 404, "Queue not found"),
        ("/partition/default/queue/root.none/applications", 404, "Queue not found"),
        ("/partition/default/queue/root..none", 400, "invalid queue name 'root..none'"),
        ("/partition/default/application/none", 404, "Application not found"),
        ("/partition/default/node/none", 404, "Node not found"),
        ("/partition/default/usage/user/none", 404, "User not found"),
        ("/partition/default/usage/user/0%20", 400, "Invalid user name"),
        ("/partition/default/usage/group/none", 404, "Group not found"),
        ("/partition/default/usage/group/0%20", 400, "Invalid group name"),
        ("/none", 404, "Not Found"),
    ],
)
def test_an_error_has_its_status_and_message(client, path, status, message):
    answer = client.get(BASE + path)
    assert answer.status_code == status
    assert answer.json() == {"status_code": status, "message": message, "description": message}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(client, method):
    answer = client.request(method, f"{PARTITION}/queues", content=b"queues: []")
    assert answer.status_code == 405
    assert answer.json()["status_code"] == 405


def test_a_request_under_the_name_of_another_host_is_refused(client):
    """A page of another site that resolves its name to this address cannot read the pool."""
    assert client.get(f"{BASE}/clusters", headers={"Host": "pages.example.org"}).status_code == 400


PIECES = (
    *("ws", "v1", "partition", "default", "queue", "queues", "root", "root.default", "applications", "usage"),
    *("users", "user", "nodes", "..", "%2e%2e", "%2f", "%00", "%25", "", "%ff%fe", "root%2Edefault"),
)
PARTS = st.lists(
    st.one_of(st.sampled_from(PIECES), st.binary(max_size=8).map(lambda data: quote(data, safe=""))),
    max_size=8,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=PARTS)
def test_any_path_is_answered_without_an_internal_error(client, parts):
    answer = client.get(f"{BASE}/{'/'.join(parts)}", follow_redirects=False)
    assert answer.status_code < 500
    assert "Traceback" not in answer.text
