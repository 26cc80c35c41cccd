"""Names with slashes and other special characters in paths, escaped once, or twice as clients of YuniKorn do (YUNIKORN-2715)."""

from urllib.parse import quote

import pytest

from app_client import app_client
from negotiator.hooks.command_targets import CommandTargets
from negotiator.service.overviews import Overviews
from negotiator.service.web_app import make_app

PARTITION = "/ws/v1/partition/default"
CONFIGURED, OF_RULE = "root.a:b#c/d@e-f", "root.dom/ann#x"
USER, GROUP, SCHEDD, HOST = "dom/ann#x", "a:b-c_d", "s/1%2f@x:9618", "n/1%41"
APPLICATION = f"{SCHEDD}#2"
QUEUES = f"""
partitions:
  - name: default
    placementrules: [{{name: user, create: true}}]
    queues:
      - name: root
        submitacl: "*"
        limits:
          - {{limit: odd, users: ["{USER}"], groups: ["{GROUP}"], maxresources: {{vcore: 4}}}}
        queues: [{{name: "{CONFIGURED.removeprefix("root.")}"}}]
"""
POOL = f"""
MyType = "Machine"
Name = "slot1@n1"
Machine = "{HOST}"
Cpus = 1
Requirements = true

MyType = "Job"
ClusterId = 2
ProcId = 0
JobStatus = 1
Owner = "{USER}"
User = "ann@example.org"
GlobalJobId = "{SCHEDD}#2.0#1"
Requirements = true
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    (folder / "queues.yaml").write_text(QUEUES)
    (folder / "pool.ads").write_text(POOL)
    overviews = Overviews(CommandTargets(bundle=folder, pool=(folder / "pool.ads",)))
    overviews.refresh()
    assert overviews.failure == ""
    with app_client(make_app(overviews)) as client:
        yield client


def once(name):
    return quote(name, safe="")


def twice(name):
    return once(once(name))


@pytest.mark.parametrize("escaped", [once, twice])
@pytest.mark.parametrize(
    ("path", "names", "key", "value"),
    [
        ("queue/{}", (CONFIGURED,), "queuename", CONFIGURED),
        ("queue/{}?subtree", (CONFIGURED,), "queuename", CONFIGURED),
        ("queue/{}", (OF_RULE,), "queuename", OF_RULE),
        ("queue/{}", (OF_RULE.upper().replace("ROOT", "root"),), "queuename", OF_RULE),
        ("queue/{}/application/{}", (OF_RULE, APPLICATION), "applicationID", APPLICATION),
        ("application/{}", (APPLICATION,), "applicationID", APPLICATION),
        ("usage/user/{}", (USER,), "userName", USER),
        ("usage/group/{}", (GROUP,), "groupName", GROUP),
        ("node/{}", (HOST,), "nodeID", HOST),
    ],
)
def test_a_path_finds_an_escaped_name(client, escaped, path, names, key, value):
    answer = client.get(f"{PARTITION}/{path.format(*map(escaped, names))}")
    assert answer.status_code == 200, answer.text
    assert answer.json()[key] == value


@pytest.mark.parametrize("escaped", [once, twice])
def test_the_applications_of_a_queue_and_its_page_are_found_too(client, escaped):
    (application,) = client.get(f"{PARTITION}/queue/{escaped(OF_RULE)}/applications").json()
    assert application["queueName"] == OF_RULE
    page = client.get(f"/pool/queues/{escaped(OF_RULE)}")
    assert page.status_code == 200
    assert OF_RULE in page.text


@pytest.mark.parametrize("escaped", [once, twice])
def test_a_name_that_nothing_has_is_not_found_and_an_invalid_one_is_refused(client, escaped):
    assert client.get(f"{PARTITION}/queue/{escaped('root.dom/bob')}").status_code == 404
    assert client.get(f"{PARTITION}/queue/{escaped('root.a b/c')}").status_code == 400
    assert client.get(f"{PARTITION}/usage/user/{escaped('a b/c')}").status_code == 400
    assert client.get(f"/pool/queues/{escaped('root.dom/bob')}").status_code == 404


def test_a_name_with_a_percent_sign_is_found_before_what_it_would_be_if_escaped_twice(client):
    """The name of the schedd has ``%2f``: a path that escapes it once names it."""
    assert client.get(f"{PARTITION}/application/{once(APPLICATION)}").status_code == 200
    assert client.get(f"{PARTITION}/application/{once(APPLICATION.replace('%2f', '/'))}").status_code == 404
