"""Logging in with a browser: what begins a session, what ends it, and what a page of another site cannot do."""

import re

import pytest

from app_client import app_client
from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token
from negotiator.hooks.command_targets import CommandTargets
from negotiator.service.callers import Callers
from negotiator.service.overviews import Overviews
from negotiator.service.sessions import FailedLogins
from negotiator.service.web_app import make_app

SLOT = 'MyType = "Machine"\nName = "slot1@m"\nMachine = "m"\nCpus = 1\nMemory = 1\n'
HERE = {"Sec-Fetch-Site": "same-origin"}
NOW = 1_800_000_000.0


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture(scope="module")
def overviews(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pool")
    (folder / "pool.ads").write_text(SLOT)
    read = Overviews(CommandTargets(pool=(folder / "pool.ads",)))
    read.refresh()
    return read


@pytest.fixture
def tokens(tmp_path):
    """The file of tokens, with one of alice."""
    path = tmp_path / "tokens.yaml"
    path.write_text("")
    return path


@pytest.fixture
def token(tokens):
    return make_token(tokens, "alice", (), Role.VIEWER, None)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def client(overviews, tokens, token, clock):
    """A browser of a service on an interface where reading needs a token."""
    assert token
    app = make_app(overviews, Callers(tokens, open_to_all=False, clock=clock))
    return app_client(app, "https://pool.example.org")


def log_in(client, token, back="", **headers):
    return client.post("/pool/login", data={"token": token, "back": back}, headers=headers or HERE)


def form_value(client):
    return re.search('name="form" value="([^"]+)"', client.get("/pool/login").text)[1]


def test_where_reading_needs_a_token_every_page_is_the_login_and_shows_nothing_of_the_pool(client):
    answer = client.get("/pool/hosts?name=m")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert 'name="token" type="password"' in answer.text
    assert 'name="back" value="/pool/hosts?name=m"' in answer.text
    assert "default" not in re.sub("<head>.*</head>", "", answer.text, flags=re.DOTALL)
    assert client.get("/pool/static/pages.css").status_code == 200
    assert client.get("/ws/v1/clusters").json()["status_code"] == 401


def test_a_login_leads_back_and_its_cookie_reads_pages_and_the_rest_interface(client, token):
    answer = log_in(client, token, "/pool/hosts?name=m")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/pool/hosts?name=m"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-negotiator-session=")
    assert {"httponly", "secure", "samesite=strict", "path=/"} <= set(cookie.lower().split("; "))
    page = client.get("/pool/hosts?name=m")
    assert "slot" not in cookie
    assert page.status_code == 200
    assert "alice" in page.text
    assert client.get("/ws/v1/clusters").status_code == 200


def test_the_token_is_in_no_page_address_or_cookie(client, token):
    answers = [log_in(client, token, "/pool"), client.get("/pool"), client.get("/pool/login")]
    answers.append(log_in(client, f"{token}x"))
    for answer in answers:
        assert token not in answer.text
        assert token not in str(answer.headers)


def test_a_cookie_changes_nothing_without_a_form(client, token):
    """A browser adds it to the requests of every page."""
    log_in(client, token)
    assert client.put("/ws/v1/config", content=b"").status_code == 401


def test_a_wrong_token_is_answered_with_the_form_and_begins_nothing(client, token):
    answer = log_in(client, f"{token}x", "/pool/usage")
    assert answer.status_code == 401
    assert "The token is unknown, or has ended." in answer.text
    assert 'name="back" value="/pool/usage"' in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "back",
    [
        *("https://elsewhere.example", "//elsewhere.example", "/\\elsewhere.example", "/pool/\\x", "/poolx"),
        *("javascript:alert(1)", "/pool/\r\nSet-Cookie: a=b", "/pool/" + "x" * 3000, "/pool/ü", "/"),
    ],
)
def test_a_login_leads_to_pages_of_this_service_only(client, token, back):
    assert log_in(client, token, back).headers["location"] == "/pool"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://pool.example.org"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
    ],
)
def test_a_form_of_another_site_does_nothing(client, token, headers):
    headers = headers or {"X-Nothing": "of a page"}
    assert log_in(client, token, **headers).status_code == 403
    log_in(client, token)
    answer = client.post("/pool/logout", data={"form": form_value(client)}, headers=headers)
    assert answer.status_code == 403
    assert client.get("/pool").status_code == 200


def test_a_browser_that_names_the_origin_alone_can_log_in(client, token):
    assert log_in(client, token, Origin="https://pool.example.org").status_code == 303


def test_a_session_ends_by_its_form_and_only_with_the_value_of_the_session(client, token):
    log_in(client, token)
    cookies = dict(client.cookies)
    for value in ("", "x", "ü"):
        assert client.post("/pool/logout", data={"form": value}, headers=HERE).status_code == 403
    answer = client.post("/pool/logout", data={"form": form_value(client)}, headers=HERE)
    assert answer.status_code == 303
    assert "max-age=0" in answer.headers["set-cookie"].lower()
    client.cookies.update(cookies)
    assert client.get("/pool").status_code == 401


def test_a_session_ends_after_twelve_hours(client, token, clock):
    log_in(client, token)
    clock.now += 12 * 3600 - 1
    assert client.get("/pool").status_code == 200
    clock.now += 1
    assert client.get("/pool").status_code == 401


def test_a_session_ends_with_the_entry_of_its_token(client, tokens, token):
    log_in(client, token)
    tokens.write_text("tokens: []\n")
    assert client.get("/pool").status_code == 401


def test_a_session_ends_with_the_last_day_of_its_token(client, tokens, token):
    log_in(client, token)
    tokens.write_text(f"{tokens.read_text()}    expires: 2027-01-14\n")  # the day before
    assert client.get("/pool").status_code == 401


def test_a_second_login_ends_the_session_before_it(client, token):
    log_in(client, token)
    first = dict(client.cookies)
    log_in(client, token)
    assert client.get("/pool").status_code == 200
    client.cookies.clear()
    client.cookies.update(first)
    assert client.get("/pool").status_code == 401


def test_the_oldest_of_17_sessions_of_a_token_ends(client, token):
    found = []
    for _ in range(17):
        client.cookies.clear()
        log_in(client, token)
        found.append(dict(client.cookies))
    statuses = []
    for cookies in found:
        client.cookies.clear()
        client.cookies.update(cookies)
        statuses.append(client.get("/pool").status_code)
    assert statuses == [401] + [200] * 16


def test_after_20_wrong_tokens_an_address_waits_until_the_minute_is_over(client, token, clock):
    for _ in range(20):
        assert log_in(client, "wrong").status_code == 401
    clock.now += 15
    answer = log_in(client, token)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "45"
    clock.now += 45
    assert log_in(client, token).status_code == 303


def test_wrong_tokens_are_counted_anew_in_each_minute(client, clock):
    for _ in range(19):
        log_in(client, "wrong")
    clock.now += 60
    statuses = [log_in(client, "wrong").status_code for _ in range(21)]
    assert statuses == [401] * 20 + [429]


def test_wrong_tokens_of_a_thousand_addresses_are_counted():
    """Further ones do not take more memory: the address that began first is forgotten."""
    failed = FailedLogins()
    for _ in range(20):
        failed.add("first", NOW)
    for number in range(999):
        failed.add(str(number), NOW)
    assert failed.wait("first", NOW) == 60
    failed.add("one more", NOW)
    assert failed.wait("first", NOW) == 0


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        ("token=%ff", "application/x-www-form-urlencoded", 400),
        (b"token=\xff", "application/x-www-form-urlencoded", 400),
        ("&".join(f"a{number}=1" for number in range(40)), "application/x-www-form-urlencoded", 400),
        ("{}", "application/json", 415),
        ("token=" + "x" * 20000, "application/x-www-form-urlencoded", 413),
    ],
)
def test_what_is_no_form_of_ours_is_a_page_that_says_so(client, body, content_type, status):
    answer = client.post("/pool/login", content=body, headers=HERE | {"Content-Type": content_type})
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "content-security-policy" in answer.headers


def test_where_reading_is_open_one_can_log_in_and_pages_say_who(overviews, tokens, token):
    app = make_app(overviews, Callers(tokens, open_to_all=True))
    client = app_client(app, "http://localhost:9080")
    assert ">Log in</a>" in client.get("/pool").text
    answer = log_in(client, token)
    assert answer.headers["set-cookie"].startswith("negotiator-9080=")
    assert "secure" not in answer.headers["set-cookie"].lower()
    assert "alice" in client.get("/pool").text
    client.cookies.clear()
    assert "alice" not in client.get("/pool").text


def test_without_tokens_nobody_can_log_in(overviews):
    fresh = Overviews(overviews.targets)
    fresh.refresh()
    client = app_client(make_app(fresh))
    assert "/pool/login" not in client.get("/pool").text
    page = client.get("/pool/login").text
    assert "has no tokens" in page
    assert "<form" not in page
    assert log_in(client, "").status_code == 401
