"""The program's own interface: what it answers, which requests it refuses, and the documents that describe it."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.cli import main
from negotiator.service.api.openapi import document_text
from negotiator.service.api.resources import RESOURCES

BASE = "/api/v1"
DOCS = Path(__file__).parents[2] / "docs"


def read(client, path, **query):
    """Return the values of an answer."""
    answer = client.get(BASE + path, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def refused(client, path, **query):
    """Return the message of an answer that refuses the parameters."""
    answer = client.get(BASE + path, params=query)
    assert answer.status_code == 400
    assert answer.json() == {
        "status_code": 400,
        **dict.fromkeys(("message", "description"), answer.json()["message"]),
    }
    return answer.json()["message"]


def test_the_status_names_the_bundle_and_when_the_pool_was_read(client):
    status = read(client, "/status")
    assert len(status["bundle"]) == 64
    assert status["failure"] == ""
    assert status["read"] > 1e9
    assert status["negotiator"] is None  # there is no state


def test_plugins_are_listed_with_their_hooks(client):
    plugins = {each["name"]: each for each in read(client, "/plugins")["plugins"]}
    assert "negotiator_charges" in plugins["limits"]["hooks"]
    assert all(each["status"] == "ok" and each["version"] and each["origin"] for each in plugins.values())


def test_limits_are_the_fullest_first_with_what_is_used_of_them(lively):
    found = read(lively, "/limits", rows=1000)
    limits = found["limits"]
    assert found["total"] == len(limits)
    assert {each["kind"] for each in limits} >= {"user", "group", "queue"}
    shares = [float("inf") if each["share"] is None else each["share"] for each in limits]
    assert shares == sorted(shares, reverse=True)
    assert all(
        each["share"] == pytest.approx(each["used"] / each["limit"]) for each in limits if each["limit"]
    )
    assert found["exceeded"] == sum(share > 1 for share in shares)


def test_limits_of_users_are_those_of_their_usage(lively):
    limits = read(lively, "/limits", kind="user", rows=1000)["limits"]
    expected = []
    for entry in lively.get("/ws/v1/partition/default/usage/users").json():
        waiting = [entry["queues"]]
        while waiting:
            node = waiting.pop()
            waiting += node.get("children") or ()
            name, queue, used = entry["userName"], node["queuePath"], node["resourceUsage"]
            expected += [
                (name, queue, resource, used.get(resource, 0), most)
                for resource, most in (node.get("maxResources") or {}).items()
            ]
            if node.get("maxApplications"):
                running = len(node.get("runningApplications") or ())
                expected.append((name, queue, "applications", running, node["maxApplications"]))
    found = [(each["name"], each["queue"], each["resource"], each["used"], each["limit"]) for each in limits]
    assert sorted(found) == sorted(expected)
    assert {"applications", "vcore"} <= {each["resource"] for each in limits}


def test_limits_are_selected_by_kind_name_queue_and_excess(lively):
    limits = read(lively, "/limits", rows=1000)["limits"]
    for query in (
        {"kind": "queue"},
        {"queue": "root.biology.sequencing"},
        {"name": limits[0]["name"], "kind": limits[0]["kind"]},
    ):
        expected = [each for each in limits if all(each[key] == value for key, value in query.items())]
        assert expected
        assert read(lively, "/limits", rows=1000, **query)["limits"] == expected
    exceeded = read(lively, "/limits", rows=1000, exceeded="true")
    assert exceeded["total"] == exceeded["exceeded"] == read(lively, "/limits", rows=0)["exceeded"]


def test_what_everybody_requests_is_sent_compressed_and_is_what_others_get(lively):
    answer = lively.get(f"{BASE}/limits")
    assert answer.headers["content-encoding"] == "gzip"
    plain = lively.get(f"{BASE}/limits", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert answer.json() == plain.json() == read(lively, "/limits", rows=100)


def test_pages_of_a_list_are_its_parts(lively):
    limits = read(lively, "/limits", rows=1000)["limits"]
    pages = [read(lively, "/limits", offset=offset, rows=7)["limits"] for offset in range(0, len(limits), 7)]
    assert [each for page in pages for each in page] == limits


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"rows": "many"}, "parameter rows: Expected `int`, got `str`"),
        ({"rows": "1001"}, "parameter rows: Expected `int` <= 1000"),
        ({"offset": "-1"}, "parameter offset: Expected `int` >= 0"),
        ({"kind": "wish"}, "parameter kind: Invalid enum value 'wish'"),
        ({"kind": "null"}, "parameter kind: a value is expected"),
        ({"name": "x" * 1001}, "parameter name: Expected `str` of length <= 1000"),
        ({"size": "1"}, "unknown parameter 'size' (known: offset, rows, kind, name, queue, exceeded)"),
        ({"rows": ["1", "2"]}, "parameter 'rows' is repeated"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(client, query, message):
    assert refused(client, "/limits", **query) == message


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_another_method_is_refused_and_the_right_one_is_named(client, method):
    answer = client.request(method, f"{BASE}/status", content=b"{}")
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]


@pytest.mark.parametrize(
    ("method", "path"),
    [*((each.method, each.path) for each in RESOURCES), ("GET", "/openapi.json"), ("GET", "/reports/none")],
)
def test_nothing_is_answered_to_a_wrong_token(client, method, path):
    """Not even which parameters are wrong, or that there is no such report."""
    headers = {"Authorization": "Bearer wrong"}
    answer = client.request(method, f"{BASE}{path}?wrong=1", headers=headers)
    assert answer.status_code == 401


def test_the_document_describes_each_resource_with_its_parameters_and_errors(client):
    document = read(client, "/openapi.json")
    for resource in RESOURCES:
        operation = document["paths"][BASE + resource.path][resource.method.lower()]
        assert operation["summary"] == resource.summary
        assert {"200", "400", "401"} <= set(operation["responses"])
    names = [each["name"] for each in document["paths"][f"{BASE}/limits"]["get"]["parameters"]]
    assert names == ["offset", "rows", "kind", "name", "queue", "exceeded"]


def test_each_reference_in_the_document_leads_somewhere(client):
    document = read(client, "/openapi.json")
    references = set(re.findall(r'"#/([^"]+)"', json.dumps(document)))
    assert references
    for reference in references:
        found = document
        for part in reference.split("/"):
            found = found[part]


def test_the_document_in_docs_is_the_one_that_the_command_prints():
    """After a change of the interface: ``negotiator schema openapi > docs/openapi.json``."""
    printed = CliRunner().invoke(main, ["schema", "openapi"]).output
    assert printed == document_text() == (DOCS / "openapi.json").read_text()


def test_the_table_in_docs_has_each_resource():
    rows = re.findall(
        r"^\| `(\w+) (/api/v1\S*)` \| (\S+) \| (.*) \|$", (DOCS / "api.md").read_text(), re.MULTILINE
    )
    expected = [(each.method, BASE + each.path, str(each.role), each.summary) for each in RESOURCES]
    assert rows[:-1] == expected
    assert rows[-1][1] == f"{BASE}/openapi.json"
