"""The log of the service has a line for each request, with its user and without secrets."""

import json
import shutil
from pathlib import Path

import pytest

from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token

ROOT = Path(__file__).parents[2]


@pytest.fixture
def site(tmp_path):
    shutil.copytree(ROOT / "examples" / "first-pool", tmp_path / "pool")
    return tmp_path, make_token(tmp_path / "tokens.yaml", "alice", (), Role.VIEWER, None)


def requests_of(site, serving):
    """Send some requests; return the lines of the service."""
    folder, token = site
    folders = ("--pool", "pool", "--set", "web_tokens=tokens.yaml")
    command, client = serving(*folders, "--log-level", "debug", "--log-format", "json", cwd=folder)
    with command, client:
        client.get("/api/v1/status")
        client.get("/api/v1/status", headers={"Authorization": f"Bearer {token}"})
        client.get("/api/v1/limits", params={"name": "secret=1"})
        client.get("/ws/v1/clusters", headers={"Authorization": "Bearer of-nobody"})
        client.put("/ws/v1/config", content=b"", headers={"Authorization": f"Bearer {token}"})
        client.get("/none%0aforged")
        command.process.terminate()
        command.end()
    assert token not in "".join(command.lines)
    assert "secret" not in "".join(command.lines)
    assert "of-nobody" not in "".join(command.lines)
    return command.lines[1:]


def test_each_request_has_a_line_whose_level_is_info_if_it_changes_something_or_is_refused(site, serving):
    lines = [json.loads(line) for line in requests_of(site, serving)]
    found = [(each["level"], each["method"], each["path"], each["status"], each["user"]) for each in lines]
    assert found == [
        ("debug", "GET", "/api/v1/status", 200, ""),
        ("debug", "GET", "/api/v1/status", 200, "alice"),
        ("debug", "GET", "/api/v1/limits", 200, ""),
        ("info", "GET", "/ws/v1/clusters", 401, ""),
        ("info", "PUT", "/ws/v1/config", 403, "alice"),
        ("info", "GET", "/none\nforged", 404, ""),
    ]
    assert all(each["event"] == "request" and 0 <= each["seconds"] < 60 for each in lines)
    assert all(each["timestamp"].endswith("Z") for each in lines)
