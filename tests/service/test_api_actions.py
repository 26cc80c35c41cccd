"""Actions of administrators by HTTP: who may act, what is answered, and what the audit log has of it."""

import threading
import time

import pytest

from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token
from negotiator.runtime.state import StateStore
from queueing import NOW, World, app, records

BASE = "/api/v1"
APPLICATION = "node1#1"
ROLES = {"head": "queue-administrator", "deputy": "queue-administrator", "boss": "scheduler-administrator"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A negotiator that has stopped, with an application in root.one, whose administrator is head."""
    world = World(tmp_path_factory.mktemp("site"))
    world.jobs = [app(1)]
    with world:
        world.cycle()
    return world


@pytest.fixture(scope="module")
def tokens(world):
    def made(user, role):
        token = make_token(world.folder / "tokens.yaml", user, (), Role(role), None)
        return {"Authorization": f"Bearer {token}"}

    return {user: made(user, role) for user, role in ROLES.items()} | {"viewer": made("head", "viewer")}


@pytest.fixture(scope="module")
def client(world, tokens, serving):
    assert tokens
    (world.folder / "pool.ads").write_text('MyType = "Machine"\nName = "slot1@m"\nMachine = "m"\nCpus = 1\n')
    folders = ("--bundle", "bundle", "--state", "state", "--audit-log", "audit", "--pool", "pool.ads")
    command, client = serving(*folders, "--set", "web_tokens=tokens.yaml", cwd=world.folder)
    with command, client:
        yield client


@pytest.fixture
def post(client, tokens):
    def send(path, user="head", **body):
        return client.post(BASE + path, json=body, headers=tokens.get(user, {}))

    return send


def acts(world):
    return [
        (each["action"], each["user"], each["ok"], each["note"])
        for each in records(world.folder / "audit", "admin")
    ]


def state(world):
    with StateStore.open(world.folder / "state") as store:
        found = store.load(NOW)
        return {str(each.id): each.queue for each in found.applications}, [str(each) for each in found.held]


def test_an_application_is_held_released_and_moved_in_the_name_of_the_user_of_the_token(world, post):
    done = [
        post("/applications/hold", application=APPLICATION, note="full disk"),
        post("/applications/release", application=APPLICATION),
        post("/applications/move", "head", application=APPLICATION, queue="root.two"),
        post("/applications/move", "deputy", application=APPLICATION, queue="root.one"),
    ]
    assert [(each.status_code, each.json()["state"], each.json()["text"]) for each in done] == [
        (200, "done", "node1#1 is held: it is not matched"),
        (200, "done", "node1#1 is released"),
        (200, "done", "node1#1 was moved from root.one to root.two"),
        (200, "done", "node1#1 was moved from root.two to root.one"),
    ]
    assert acts(world)[-4:] == [
        ("hold", "head", True, "by HTTP: full disk"),
        ("release", "head", True, "by HTTP"),
        ("move", "head", True, "by HTTP"),
        ("move", "deputy", True, "by HTTP"),
    ]


def test_the_access_policy_denies_a_user_who_does_not_administer_the_queue(world, post):
    """The role of the token is not enough: deputy administers another queue."""
    answer = post("/applications/hold", "deputy", application=APPLICATION)
    assert answer.status_code == 409
    assert "denied: " in answer.json()["message"]
    assert state(world) == ({APPLICATION: "root.one"}, [])
    assert acts(world)[-1] == ("hold", "deputy", False, "by HTTP")


def test_an_unknown_application_is_refused_with_the_number_of_the_request(client, tokens, post):
    answer = post("/applications/hold", application="node1#7")
    assert answer.status_code == 409
    _, number, text = answer.json()["message"].split(" ", 2)
    found = client.get(f"{BASE}/requests/{number.rstrip(':')}", headers=tokens["head"])
    assert found.status_code == 200
    assert found.json() == {"number": int(number.rstrip(":")), "state": "refused", "text": text}


@pytest.mark.parametrize("user", ["nobody", "viewer"])
@pytest.mark.parametrize("path", ["/applications/hold", "/applications/kill"])
def test_without_a_token_of_the_role_nothing_is_requested(world, post, user, path):
    before = acts(world)
    answer = post(path, user, application=APPLICATION)
    assert answer.status_code == {"nobody": 401, "viewer": 403}[user]
    assert acts(world) == before


def test_only_administrators_of_the_scheduler_reload(post):
    assert post("/reload", "head").status_code == 403
    assert post("/reload", "boss").json()["state"] == "done"


def test_a_running_negotiator_answers_later_under_the_number_of_the_request(world, client, tokens, post):
    with world:
        answer = post("/applications/hold", application=APPLICATION, wait=0)
        assert answer.status_code == 202
        number = answer.json()["number"]
        path = f"{BASE}/requests/{number}"
        assert answer.json()["state"] == "waiting"
        assert client.get(path, headers=tokens["head"]).json()["state"] == "waiting"
        world.run.between_cycles()
        assert client.get(path, headers=tokens["head"]).json()["state"] == "done"
        assert APPLICATION in map(str, world.run.state_manager.held)
    assert post("/applications/release", application=APPLICATION).json()["state"] == "done"


def test_readers_are_answered_while_more_actions_wait_than_there_are_threads(world, client, post):
    with world:
        body = {"application": "9", "wait": 10}
        waiting = [threading.Thread(target=post, args=["/applications/hold"], kwargs=body) for _ in range(50)]
        for thread in waiting:
            thread.start()
        while not world.store.waiting():
            time.sleep(0.01)
        assert client.get(f"{BASE}/status", timeout=5).status_code == 200
        while any(thread.is_alive() for thread in waiting):
            world.run.between_cycles()


def test_an_unknown_request_is_not_found_and_readers_see_none(client, tokens):
    assert client.get(f"{BASE}/requests/4000000", headers=tokens["head"]).status_code == 404
    assert client.get(f"{BASE}/requests/1").status_code == 401


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "key: Object missing required field `application`"),
        ({"application": ""}, "key application: Expected `str` of length >= 1"),
        ({"application": 1}, "key application: Expected `str`, got `int`"),
        ({"application": "1", "note": "x" * 481}, "key note: Expected `str` of length <= 480"),
        ({"application": "1", "wait": 11}, "key wait: Expected `float` <= 10.0"),
        ({"application": "1", "queue": "root"}, "unknown key 'queue' (known: note, wait, application)"),
    ],
)
def test_a_wrong_body_is_refused_by_the_name_of_the_key(world, post, body, message):
    before = acts(world)
    answer = post("/applications/hold", **body)
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert acts(world) == before


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"application": "\\ud800"}', 400),
        (b"[" * 9999, 400),
        (b"x" * 70000, 413),
    ],
)
def test_a_body_that_is_no_json_or_too_large_is_refused(client, tokens, content, status):
    headers = tokens["head"] | {"Content-Type": "application/json"}
    answer = client.post(f"{BASE}/applications/hold", content=content, headers=headers)
    assert answer.status_code == status
    assert answer.json()["status_code"] == status


def test_the_form_of_a_page_is_not_accepted(client, tokens):
    answer = client.post(f"{BASE}/applications/hold", data={"application": "1"}, headers=tokens["head"])
    assert answer.status_code == 415
