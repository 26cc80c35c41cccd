"""``negotiator schema``, and the real output of each command with a schema."""

import json
import shutil
from pathlib import Path

import jsonschema_rs
import pytest
from click.testing import CliRunner

from negotiator.app.output_formats import OUTPUTS, output_format
from negotiator.cli import main
from negotiator.cli.commands import COMMANDS
from output_schemas import check_output, command_of, records_of

ROOT = Path(__file__).parents[2]
#: A call of each command, over what ``world`` made.
CALLS = {
    "run": ["run", "pool", "--no-audit", "--json"],
    "serve": ["serve", "--config", "service.yaml", "--cycles", "1", "--json"],
    "why": ["why", "--user", "tester", "--pool", "pool", "--bundle", "site", "--json"],
    "idle": ["idle", "--pool", "pool", "--json"],
    "queues": ["queues", "--bundle", "site", "--pool", "pool", "--json"],
    "usage": ["usage", "users", "--bundle", "site", "--pool", "pool", "--json"],
    "place": ["place", "--user", "sue", "--bundle", "site", "--json"],
    "access": ["access", "--user", "sue", "--bundle", "site", "--json"],
    "check": ["check", "site", "--pool", "pool", "--format", "json"],
    "expr lint": [
        "expr",
        "lint",
        "TARGET.Memroy > 1",
        "1 +",
        "--my",
        "pool/machines.ads",
        "--format",
        "json",
    ],
    "test": ["test", "--bundle", "site", "--format", "json"],
    "plugins": ["plugins", "--json"],
    "policies": ["policies", "--bundle", "site", "--pool", "pool", "--json"],
    "diff": ["diff", "site", "warned", "--pool", "pool", "--jobs", "--json"],
    "whatif": ["whatif", "--pool", "pool", "--bundle", "site", "--add-slots", "2", "{slot}", "--json"],
    "replay": ["replay", "recorded", "--json"],
    "status": ["status", "--state", "state", "--json"],
    "audit verify": ["audit", "verify", "log", "--json"],
    "audit why": ["audit", "why", "{job}", "--audit-log", "log", "--json"],
    "audit why --records": ["audit", "why", "{job}", "--audit-log", "log", "--records"],
    "audit who": ["audit", "who", "tester", "--audit-log", "log", "--json"],
    "audit changes": ["audit", "changes", "--audit-log", "log", "--json"],
    "audit rollout": ["audit", "rollout", "--audit-log", "log", "--by", "user", "--json"],
    "audit sql": ["audit", "sql", "SELECT kind, cycle FROM records", "--audit-log", "log", "--json"],
}
#: It needs a live pool: test_fetch.py.
ELSEWHERE = {"fetch"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return a folder with a pool, bundles, and what runs over them have left; and a job and a slot of it."""
    folder = tmp_path_factory.mktemp("world")
    shutil.copytree(ROOT / "examples" / "first-pool", folder / "pool")
    shutil.copytree(ROOT / "policies" / "limits", folder / "site")
    shutil.copytree(ROOT / "policies" / "rollout", folder / "warned")
    (folder / "service.yaml").write_text(
        "pool_driver: files\npool: [pool]\nbundle: site\nstate: served\naudit_log: served-log\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for bundle in ("site", "warned"):
            words = [
                "run",
                "pool",
                "--bundle",
                bundle,
                "--audit-log",
                f"log-{bundle}",
                "--record",
                "recorded",
            ]
            words += ["--state", f"state-{bundle}"]
            done = CliRunner().invoke(main, words)
            assert done.exit_code == 0, done.output
        (folder / "state-site").rename(folder / "state")
        (folder / "log-warned").rename(folder / "log")
        matched = json.loads(CliRunner().invoke(main, ["run", "pool", "--no-audit", "--json"]).stdout)[
            "match"
        ][0]
    return folder, {"job": matched["job"], "slot": matched["slot"]}


def test_each_schema_of_an_output_has_a_call_here():
    assert CALLS.keys() | ELSEWHERE == {each.command for each in OUTPUTS}


def test_each_command_with_json_has_a_schema():
    without = set()
    for name in COMMANDS:
        command = main.get_command(None, name).load()
        found = (
            {name: command}
            if not hasattr(command, "commands")
            else {f"{name} {below}": each for below, each in command.commands.items()}
        )
        for words, each in found.items():
            options = {option for parameter in each.params for option in parameter.opts}
            choices = {
                choice
                for parameter in each.params
                for choice in getattr(parameter.type, "choices", ())
                if parameter.name == "form"
            }
            if ("--json" in options or "json" in choices) and output_format(words) is None:
                without.add(words)
    assert without == set()


@pytest.mark.parametrize("command", sorted(CALLS))
def test_the_real_output_of_a_command_is_what_its_schema_permits(command, world, monkeypatch):
    folder, names = world
    monkeypatch.chdir(folder)
    words = [word.format(**names) for word in CALLS[command]]
    assert command_of(words) == command
    done = CliRunner().invoke(main, words)
    records = records_of(command, done.stdout)
    assert records or command == "audit changes", done.output
    check_output(words, done.stdout)


def test_the_output_of_why_for_a_job_and_a_slot_is_what_its_schema_permits(world, monkeypatch):
    folder, names = world
    monkeypatch.chdir(folder)
    words = ["why", names["job"], names["slot"], "--pool", "pool", "--json"]
    done = CliRunner().invoke(main, words)
    assert json.loads(done.stdout)["slot"] == names["slot"]
    check_output(words, done.stdout)


def test_a_schema_permits_neither_further_keys_nor_fewer():
    schema = json.loads(CliRunner().invoke(main, ["schema", "why"]).stdout)
    record = {"job": "1.0", "schedd": "s", "slot": "slot1", "reasons": [], "quotas": [], "chosen": ""}
    validator = jsonschema_rs.validator_for(schema)
    assert validator.is_valid(record)
    assert not validator.is_valid({**record, "more": 1})
    assert not validator.is_valid({name: value for name, value in record.items() if name != "chosen"})


def test_all_schemas_are_listed_with_their_versions():
    lines = CliRunner().invoke(main, ["schema", "--list"]).stdout.splitlines()
    listed = {line.strip() for line in lines}
    for each in OUTPUTS:
        assert any(line.startswith(f"{each.command} ") and f" {each.version}  " in line for line in listed)
    assert any(line.startswith("pool.yaml") for line in listed)
    assert any(line.startswith("openapi ") for line in listed)


def test_a_name_without_a_schema_is_answered_with_the_nearest():
    done = CliRunner().invoke(main, ["schema", "pool.yml"])
    assert (done.exit_code, "did you mean pool.yaml?" in done.stderr) == (1, True)


def test_the_keys_of_the_plugins_of_a_bundle_are_in_the_schema_of_its_file(tmp_path):
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "tea.py").write_text(
        "import attrs\nfrom negotiator.plugin import Section, hookimpl\n"
        "@attrs.frozen\nclass Tea:\n    '''Settings of tea.\n\n    ``cups`` are served a day.\n    '''\n    cups: int = 3\n"
        "@hookimpl\ndef negotiator_section():\n    return Section(schema=Tea)\n"
    )
    (tmp_path / "pool.yaml").write_text("plugins:\n  folders: [plugins]\n")
    done = CliRunner().invoke(main, ["schema", "pool.yaml", "--bundle", str(tmp_path)])
    found = json.loads(done.stdout)["properties"]["cups"]
    assert found == {"type": "integer", "description": "cups are served a day.", "default": 3}


def test_unknown_keys_are_permitted_if_a_plugin_of_the_bundle_was_refused(tmp_path):
    (tmp_path / "pool.yaml").write_text("plugins:\n  modules: [no_such_module]\n")
    done = CliRunner().invoke(main, ["schema", "pool.yaml", "--bundle", str(tmp_path)])
    assert "unknown keys are permitted" in done.stderr
    assert json.loads(done.stdout)["additionalProperties"] is True
