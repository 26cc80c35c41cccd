"""Reports of plugins by HTTP: Grid Engine's quotas, fair share, those of a plugin of the site, and what becomes of failures."""

import shutil
from pathlib import Path

import pytest
import xmlschema
from click.testing import CliRunner

from negotiator.cli import main
from negotiator_quotasets import qquota

ROOT = Path(__file__).parents[2]
BASE = "/api/v1/reports"
PLUGIN = """\
import attrs
from negotiator.plugin import InvalidCallError, Report, ReportParameter, hookimpl

@attrs.frozen
class Row:
    '''A number.'''
    number: float

def rows(content, given):
    if given["what"] == "refused":
        raise InvalidCallError("what: choose another one")
    if given["what"] == "broken":
        raise ValueError("broken")
    if given["what"] == "strange":
        return [Row(float("nan"))]
    return map(Row, content)

def broken(source):
    raise OSError("no such file")

@hookimpl
def negotiator_reports():
    own = {"row": Row, "rows": rows, "parameters": (ReportParameter("what", "What to do.", "nothing"),)}
    yield Report(name="numbers", summary="Numbers", collect=lambda source: range(250), **own)
    yield Report(name="broken", summary="Nothing", collect=broken, **own)
    yield Report(name="userprio", summary="Another one's name", collect=broken, **own)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    shutil.copytree(ROOT / "examples" / "first-pool", folder / "pool")
    shutil.copytree(ROOT / "policies" / "resource-quotas", folder / "bundle")
    (folder / "plugins").mkdir()
    (folder / "plugins" / "numbers.py").write_text(PLUGIN)
    return folder


@pytest.fixture(scope="module")
def served(site, serving):
    folders = ("--bundle", "bundle", "--pool", "pool", "--plugins-dir", "plugins")
    command, client = serving(*folders, cwd=site)
    with command, client:
        yield client


def qquota_of(site, *words):
    targets = ["--bundle", str(site / "bundle"), "--pool", str(site / "pool")]
    return CliRunner().invoke(main, ["qquota", *targets, *words]).output


def test_reports_are_listed_with_their_plugins_parameters_and_media_types(served):
    found = {each["name"]: each for each in served.get(BASE).json()["reports"]}
    assert set(found) == {"broken", "numbers", "qquota", "userprio"}
    assert found["userprio"]["plugin"] == "fairshare"
    assert found["numbers"]["parameters"] == [
        {"name": "what", "text": "What to do.", "default": "nothing", "choices": []}
    ]
    assert found["qquota"]["media_types"] == ["application/json", "application/xml", "text/plain"]
    assert all(each["path"] == f"{BASE}/{name}" for name, each in found.items())


def test_qquota_answers_in_grid_engines_xml_as_the_command_prints_it(site, served):
    answer = served.get(f"{BASE}/qquota", headers={"Accept": "application/xml"})
    assert answer.headers["content-type"] == "application/xml"
    assert answer.text == qquota_of(site, "-u", "*", "-xml")
    assert "<limit " in answer.text
    schema = Path(qquota.__file__).parent / "qquota.xsd"
    assert xmlschema.XMLSchema(schema).is_valid(answer.text)


def test_qquota_answers_with_records_of_what_the_command_prints(site, served):
    answer = served.get(f"{BASE}/qquota").json()
    assert answer["failures"] == []
    shown = [f"{each['rule']} {each['resource']}={each['used']}/{each['limit']}" for each in answer["rows"]]
    printed = [" ".join(line.split()[:2]) for line in qquota_of(site, "-u", "*").splitlines()[2:]]
    assert shown == printed != []


def test_qquota_selects_by_the_lists_of_the_command(site, served):
    text = served.get(f"{BASE}/qquota", params={"users": "tester,x*"}, headers={"Accept": "text/plain"}).text
    assert text == qquota_of(site, "-u", "tester,x*") != ""
    assert served.get(f"{BASE}/qquota", params={"users": "nobody"}).json()["rows"] == []


def test_userprio_has_an_entry_for_each_account(served):
    (root,) = served.get(f"{BASE}/userprio").json()["rows"]
    assert (root["name"], root["is_group"]) == ("<none>", True)
    assert "Last Priority Update" in served.get(f"{BASE}/userprio", headers={"Accept": "text/plain"}).text


def test_a_report_is_sent_in_pages(served):
    answer = served.get(f"{BASE}/numbers", params={"offset": 240, "rows": 20}).json()
    assert answer["total"] == 250
    assert [each["number"] for each in answer["rows"]] == list(range(240, 250))


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/numbers?what=refused", 400, "what: choose another one"),
        ("/numbers?who=me", 400, "unknown parameter 'who' (known: offset, rows, what)"),
        ("/none", 404, "unknown report 'none': /api/v1/reports lists all"),
        ("/numbers?what=broken", 502, "ValueError: broken"),
        ("/numbers?what=strange", 502, "a row of the report numbers is not JSON"),
        ("/broken", 502, "OSError: no such file"),
    ],
)
def test_a_wrong_request_and_a_failed_plugin_are_errors_with_the_reason(served, path, status, message):
    answer = served.get(BASE + path)
    assert answer.status_code == status
    assert message in answer.json()["message"]


def test_failures_of_reports_are_in_the_health_check(served):
    checks = served.get("/ws/v1/scheduler/healthcheck").json()["HealthChecks"]
    (plugins,) = (each for each in checks if each["Name"] == "Plugins")
    assert not plugins["Succeeded"]
    assert "OSError: no such file" in plugins["DiagnosisMessage"]
    assert "the report userprio is one of plugin fairshare already" in plugins["DiagnosisMessage"]


def test_the_document_describes_the_reports_of_plugins(served):
    document = served.get("/api/v1/openapi.json").json()
    operation = document["paths"][f"{BASE}/numbers"]["get"]
    assert [each["name"] for each in operation["parameters"]] == ["offset", "rows", "what"]
    assert document["components"]["schemas"]["Row"]["description"] == "A number."
    quotas = document["paths"][f"{BASE}/qquota"]["get"]["responses"]["200"]["content"]
    assert set(quotas) == {"application/json", "application/xml", "text/plain"}
