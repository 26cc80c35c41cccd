"""The queue configuration by HTTP: who may read, check and change it, and what becomes of the file."""

import json
import stat
import subprocess
import sys

import pytest

CONFIG, VALIDATE = "/ws/v1/config", "/ws/v1/validate-conf"
QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: default
          - name: {name}
    placementrules:
      - name: fixed
        value: root.default
"""
BEFORE, AFTER = QUEUES.format(name="before"), QUEUES.format(name="after")
INVALID = AFTER.replace("name: after", "name: a b")
JOBS = """\
MyType = "Machine"
Name = "slot1@m"
Machine = "m"
Cpus = 1
Memory = 1024
State = "Unclaimed"
Requirements = true
"""


def negotiator(*arguments, cwd):
    """Run a command and return its output."""
    command = [sys.executable, "-m", "negotiator", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A bundle whose scheduler is administered by alice, a pool, and a token for each role."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "bundle").mkdir()
    (folder / "bundle" / "pool.yaml").write_text("scheduleracl: alice\n")
    (folder / "pool.ads").write_text(JOBS)
    return folder


@pytest.fixture(scope="module")
def tokens(site):
    def made(user, role, *more):
        return negotiator(
            "admin", "token", "tokens.yaml", "--user", user, "--role", role, *more, cwd=site
        ).strip()

    return {
        "alice": made("alice", "scheduler-administrator", "--group", "ops", "--days", "7"),
        "bob": made("bob", "scheduler-administrator"),
        "viewer": made("alice", "viewer"),
    }


@pytest.fixture(scope="module")
def client(site, tokens, serving):
    assert tokens
    arguments = ("--bundle", "bundle", "--pool", "pool.ads", "--state", "state", "--audit-log", "audit")
    negotiator("run", *arguments[:2], *arguments[4:], "pool.ads", cwd=site)
    command, client = serving(*arguments, "--set", "web_tokens=tokens.yaml", cwd=site)
    with command, client:
        yield client


@pytest.fixture
def queues(site):
    """The file of queues, as it is before each test."""
    path = site / "bundle" / "queues.yaml"
    path.write_text(BEFORE)
    return path


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def changes(site):
    """Return the records of requests of administrators in the audit log."""
    lines = (site / "audit").glob("*.jsonl")
    records = [json.loads(line) for path in sorted(lines) for line in path.read_text().splitlines()]
    return [record for record in records if record["kind"] == "admin"]


def test_the_file_of_tokens_has_no_token_and_others_cannot_write_it(site, tokens):
    text = (site / "tokens.yaml").read_text()
    assert text.count("sha256: ") == 3
    assert not any(token in text for token in tokens.values())
    assert not stat.S_IMODE((site / "tokens.yaml").stat().st_mode) & (stat.S_IWOTH | stat.S_IROTH)


def test_a_valid_configuration_is_written_shown_and_recorded_with_its_user(site, client, tokens, queues):
    answer = client.put(CONFIG, content=AFTER, headers=bearer(tokens["alice"]))
    assert answer.status_code == 200, answer.text
    assert answer.json()["recorded"] is True
    assert queues.read_text() == AFTER
    assert client.get(CONFIG).text == AFTER
    tree = client.get("/ws/v1/partition/default/queues").json()
    assert "root.after" in tree["childNames"]
    record = changes(site)[-1]
    assert record["user"] == "alice"
    assert answer.json()["digest"] in record["note"]
    assert record["time"]


def test_an_invalid_configuration_changes_nothing_and_its_problem_has_line_and_column(client, tokens, queues):
    answer = client.put(CONFIG, content=INVALID, headers=bearer(tokens["alice"]))
    assert answer.status_code == 409
    assert "queues.yaml:8:19: error: invalid" in answer.json()["message"]
    assert queues.read_text() == BEFORE


def test_a_user_whom_the_access_policy_denies_changes_nothing_and_the_attempt_is_recorded(
    site, client, tokens, queues
):
    answer = client.put(CONFIG, content=AFTER, headers=bearer(tokens["bob"]))
    assert answer.status_code == 403
    assert queues.read_text() == BEFORE
    record = changes(site)[-1]
    assert record["user"] == "bob"
    assert "denied" in json.dumps(record)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        (bearer("negotiator_wrong"), 401),
        ({"Authorization": "Basic YWxpY2U6"}, 401),
        ({"Authorization": "Bearer"}, 401),
    ],
)
def test_without_a_valid_token_nothing_is_changed(client, queues, headers, status):
    answer = client.put(CONFIG, content=AFTER, headers=headers)
    assert answer.status_code == status
    assert answer.headers["www-authenticate"] == "Bearer"
    assert queues.read_text() == BEFORE


def test_a_token_of_a_lesser_role_changes_nothing(client, tokens, queues):
    answer = client.put(CONFIG, content=AFTER, headers=bearer(tokens["viewer"]))
    assert answer.status_code == 403
    assert "viewer" in answer.json()["message"]
    assert queues.read_text() == BEFORE


def test_a_wrong_token_cannot_read_either(client):
    assert client.get("/ws/v1/clusters", headers=bearer("wrong")).status_code == 401


@pytest.mark.usefixtures("queues")
def test_a_deleted_entry_ends_its_token_at_once(site, client):
    token = negotiator("admin", "token", "tokens.yaml", "--user", "eve", cwd=site).strip()
    assert client.get("/ws/v1/clusters", headers=bearer(token)).status_code == 200
    path = site / "tokens.yaml"
    path.write_text(path.read_text().partition("  - user: 'eve'")[0])
    assert client.get("/ws/v1/clusters", headers=bearer(token)).status_code == 401


def test_a_token_ends_after_its_last_day(site, client):
    token = negotiator("admin", "token", "tokens.yaml", "--user", "eve", "--days", "1", cwd=site).strip()
    path = site / "tokens.yaml"
    head, mark, tail = path.read_text().rpartition("expires: ")
    path.write_text(f"{head}{mark}2020-01-01\n")
    assert client.get("/ws/v1/clusters", headers=bearer(token)).status_code == 401
    path.write_text(f"{head}{mark}{tail}")
    assert client.get("/ws/v1/clusters", headers=bearer(token)).status_code == 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tokens:\n  - user: a\n    role: king\n    sha256: 00\n", "tokens.yaml:3:11"),
        ("tokens:\n  - user: a\n    role: viewer\n    sha256: ab\n", "a SHA-256 has 64 hexadecimal digits"),
        ("tokens:\n  - user: a\n    role: viewer\n    colour: red\n", "colour"),
        ("tokens: [", "tokens.yaml:1"),
    ],
)
def test_an_invalid_file_of_tokens_is_reported_with_its_place(tmp_path, text, message):
    (tmp_path / "tokens.yaml").write_text(text)
    command = [sys.executable, "-m", "negotiator", "admin", "token", "tokens.yaml", "--user", "a"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert (tmp_path / "tokens.yaml").read_text() == text


def test_a_file_of_tokens_keeps_its_mode(tmp_path):
    negotiator("admin", "token", "tokens.yaml", "--user", "ann", cwd=tmp_path)
    (tmp_path / "tokens.yaml").chmod(0o600)
    negotiator("admin", "token", "tokens.yaml", "--user", "bob", cwd=tmp_path)
    assert stat.S_IMODE((tmp_path / "tokens.yaml").stat().st_mode) == 0o600


def test_a_configuration_is_checked_without_being_written(client, queues):
    assert client.post(VALIDATE, content=AFTER).json() == {"allowed": True}
    answer = client.post(VALIDATE, content=INVALID).json()
    assert answer["allowed"] is False
    assert "queues.yaml:8:19: error: invalid" in answer["reason"]
    assert client.post(VALIDATE, content=b"\xff\x00").json()["allowed"] is False
    assert queues.read_text() == BEFORE


@pytest.mark.usefixtures("queues")
def test_the_configuration_is_yaml_as_written_or_json(client, tokens):
    client.put(CONFIG, content=AFTER, headers=bearer(tokens["alice"]))
    assert client.get(CONFIG).headers["content-type"].startswith("application/x-yaml")
    values = client.get(CONFIG, headers={"Accept": "application/json"}).json()
    assert values["partitions"][0]["queues"][0]["queues"][1] == {"name": "after"}


def pieces(count):
    yield from (b"#" * 65536 for _ in range(count))


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_large_body_is_refused_also_in_pieces_without_a_length(client, tokens, queues, method):
    path = CONFIG if method == "PUT" else VALIDATE
    answer = client.request(method, path, content=pieces(17), headers=bearer(tokens["alice"]))
    assert answer.status_code == 413
    assert queues.read_text() == BEFORE
    assert client.get("/ws/v1/clusters").status_code == 200
