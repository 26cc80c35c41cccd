"""Requests that schemathesis makes up from the OpenAPI document: valid ones and invalid ones, of all resources.

``NEGOTIATOR_FUZZ=500`` makes so many for each operation.
"""

import os
import shutil
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token
from negotiator.hooks.command_targets import CommandTargets
from negotiator.service.callers import Callers
from negotiator.service.overviews import Overviews
from negotiator.service.yunikorn.routes import read_routes
from queueing import ME, World, app

EXAMPLES = int(os.environ.get("NEGOTIATOR_FUZZ", "5"))
ROOT = Path(__file__).parents[2]
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with a pool, rule sets, the state of a negotiator, and a token of its administrator."""
    world = World(tmp_path_factory.mktemp("fuzz"))
    world.jobs = [app(1)]
    with world:
        world.cycle()
    for name in ("gridengine.yaml", "licences.rqs", "slots.rqs"):
        shutil.copy(ROOT / "policies" / "resource-quotas" / name, world.folder / "bundle")
    shutil.copytree(ROOT / "examples" / "first-pool", world.folder / "pool")
    token = make_token(world.folder / "tokens.yaml", ME, (), Role.SCHEDULER_ADMINISTRATOR, None)
    return world.folder, {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def served(site, serving):
    folders = ("--bundle", "bundle", "--pool", "pool", "--state", "state", "--audit-log", "audit")
    command, client = serving(*folders, "--set", "web_tokens=tokens.yaml", cwd=site[0])
    with command, client:
        yield client


def fuzzed(document, client, headers, mode):
    """Send requests to each operation of a document, and check the answers against it; return their statuses."""
    schema = schemathesis.openapi.from_dict(document)
    operations = [result.ok() for result in schema.get_all_operations()]
    varied = [each for each in operations if each.query or each.path_parameters or each.body]
    chosen = varied if mode is GenerationMode.NEGATIVE else operations
    return {each.label: statuses(each, client, headers, mode) for each in chosen}


def statuses(operation, client, headers, mode):
    """Return the statuses of the answers to requests to an operation."""
    found = []

    @SETTINGS
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case):
        answer = case.call(base_url=str(client.base_url), headers=headers)
        found.append(answer.status_code)
        case.validate_response(answer, headers=headers)
        assert "Traceback" not in answer.text

    send()
    return found


@pytest.mark.parametrize("mode", GenerationMode)
def test_every_answer_is_as_the_document_says(site, served, mode):
    document = served.get("/api/v1/openapi.json").json()
    counts = fuzzed(document, served, site[1], mode)
    assert "GET /api/v1/reports/qquota" in counts
    assert all(status < 500 for found in counts.values() for status in found)
    if mode is GenerationMode.POSITIVE:
        assert {409} >= set(
            counts["POST /api/v1/applications/move"]
        )  # no such application: they get that far
        assert {200} == set(counts["GET /api/v1/limits"])


def test_every_path_in_yunikorns_shapes_answers_anything_without_an_internal_error(site, served):
    statuses = {status: {"description": status} for status in ("200", "400", "404")}
    paths = {}
    for route in read_routes(Overviews(CommandTargets()), Callers()):
        parameters = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
            for name in route.param_convertors
        ]
        paths[route.path_format] = {"get": {"parameters": parameters, "responses": statuses}}
    body = {"required": True, "content": {"application/x-yaml": {"schema": {"type": "string"}}}}
    paths["/ws/v1/validate-conf"] = {"post": {"requestBody": body, "responses": statuses}}
    document = {"openapi": "3.1.0", "info": {"title": "", "version": ""}, "paths": paths}
    counts = fuzzed(document, served, site[1], GenerationMode.POSITIVE)
    assert len(counts) == len(paths)
    assert all(status < 500 for found in counts.values() for status in found)
