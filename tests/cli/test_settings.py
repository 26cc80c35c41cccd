"""``negotiator status --settings``, and the settings of the service in the other commands."""

import json
import os
from pathlib import Path

import attrs
import click
import pytest
from click.testing import CliRunner

from commands import loaded
from negotiator.app.context import ProgramContext
from negotiator.app.service_settings import KEYS, LogFormat, LogLevel, PoolDriver, ServiceSettings, option_of
from negotiator.cli import main, service_defaults
from negotiator.cli.service_command import SettingKey, key_of
from negotiator.defaults import OPTION_KEYS
from queueing import records

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "first-pool"
FILE = "state: state\nevery: 60\npool_driver: files\npool: [pool]\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs a command in a folder with a pool and the file ``negotiator.yaml``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pool").mkdir()
    monkeypatch.setattr(service_defaults, "SERVICE_FILE", tmp_path / "etc.yaml")

    def run(*words, file=FILE, program=None, **variables):
        (tmp_path / "negotiator.yaml").write_text(file)
        return CliRunner().invoke(main, [*map(str, words)], env=variables, obj=program)

    return run


def settings(done):
    """Return the value and the place of each setting."""
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)["settings"]
    return {key: (entry["value"], entry["origin"], entry["place"]) for key, entry in printed.items()}


def test_each_setting_is_printed_with_the_option_variable_or_line_that_it_comes_from(run, tmp_path):
    words = ("status", "--settings", "--json", "--config", "negotiator.yaml", "--every", 5)
    found = settings(run(*words, NEGOTIATOR_AUDIT_LOG="log"))
    assert found["every"] == (5.0, "option", "--every")
    assert found["audit_log"] == ("log", "variable", "NEGOTIATOR_AUDIT_LOG")
    assert found["state"] == (str(tmp_path / "state"), "file", "negotiator.yaml:1:1")
    assert found["pool"] == ([str(tmp_path / "pool")], "file", "negotiator.yaml:4:1")
    assert found["web_bind_port"] == (9080, "default", None)
    assert tuple(found) == KEYS


def test_an_option_precedes_a_variable_and_that_the_file(run):
    words = ("status", "--settings", "--json", "--config", "negotiator.yaml")
    assert settings(run(*words))["every"][:2] == (60.0, "file")
    assert settings(run(*words, NEGOTIATOR_EVERY="7"))["every"][:2] == (7.0, "variable")
    assert settings(run(*words, "--every", 8, NEGOTIATOR_EVERY="7"))["every"][:2] == (8.0, "option")


def test_a_switch_of_the_file_can_be_turned_off(run):
    words, file = ("status", "--settings", "--json", "--config", "negotiator.yaml"), "watch: true\n"
    assert settings(run(*words, file=file))["watch"][0] is True
    assert settings(run(*words, "--no-watch", file=file))["watch"] == (False, "option", "--no-watch")
    assert settings(run(*words, file=file, NEGOTIATOR_WATCH="false"))["watch"][0] is False


def test_set_precedes_a_variable_and_that_the_file_as_an_option_does(run):
    words, file = ("status", "--settings", "--json", "--config", "negotiator.yaml"), "web_bind_port: 1\n"
    assert settings(run(*words, file=file))["web_bind_port"] == (1, "file", "negotiator.yaml:1:1")
    variable = {"NEGOTIATOR_WEB_BIND_PORT": "2"}
    assert settings(run(*words, file=file, **variable))["web_bind_port"][:2] == (2, "variable")
    found = settings(run(*words, "--set", "web_bind_port=3", file=file, **variable))
    assert found["web_bind_port"] == (3, "option", "--set web_bind_port=...")
    table = run(*words[:2], "--set", "web_bind_port=3", "--set", "stable=2").stdout.splitlines()
    assert ["web_bind_port", "3", "--set", "web_bind_port=..."] in [line.split() for line in table]
    assert ["stable", "2.0", "--set", "stable=..."] in [line.split() for line in table]


def test_the_last_of_two_values_is_used_and_an_empty_one_is_a_value(run):
    words = ("status", "--settings", "--json", "--set", "name=a", "--set", "scheduler_acl=a=b c")
    found = settings(run(*words[:3], "--set", "stable=1", "--set", "stable=2", "--set", "scheduler_acl="))
    assert (found["stable"][0], found["scheduler_acl"][:2]) == (2.0, ("", "option"))
    assert "invalid names of users or groups: a=b" in run(*words).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--set", "web_bind_port=x"),
            "Invalid value for '--set web_bind_port' (env var: 'NEGOTIATOR_WEB_BIND_PORT'): 'x' is not a valid integer range",
        ),
        (
            ("--set", "web_bind_port=70000"),
            "'--set web_bind_port' (env var: 'NEGOTIATOR_WEB_BIND_PORT'): 70000 is not in the range 0<=x<=65535",
        ),
        (
            ("--set", "pool_driver=web"),
            "'--set pool_driver' (env var: 'NEGOTIATOR_POOL_DRIVER'): 'web' is not one of 'files', 'live'",
        ),
        (
            ("--set", "stable=nan"),
            "'--set stable' (env var: 'NEGOTIATOR_STABLE'): must be a finite number of seconds",
        ),
        (("--set", "web_port=1"), "unknown key 'web_port'; the nearest are: web_bind_port, "),
        (("--set", "web_bind_port"), "'web_bind_port': write NAME=VALUE"),
        (("--set", "=s3cret"), "'': write NAME=VALUE"),
        (("--set", "every=5"), "every is an option: use --every"),
        (("--web-bind-port", "9080"), "No such option: --web-bind-port; use --set web_bind_port=9080"),
        (("--web-bind-port=9080",), "use --set web_bind_port=9080"),
        (("--web-bind-port", "--no-watch"), "use --set web_bind_port=VALUE"),
        (("--web-bind-port", "-b", "site"), "use --set web_bind_port=VALUE"),
        (("--web-bind-port",), "use --set web_bind_port=VALUE"),
        (("--scheduler-acl", "a b"), "use --set 'scheduler_acl=a b'"),
        (("--nothing",), "No such option '--nothing'"),
    ],
)
def test_an_invalid_key_or_value_is_answered_with_what_to_write(run, words, message):
    for command in (("serve",), ("status", "--settings")):
        done = run(*command, *words)
        assert (done.exit_code, message in " ".join(done.stderr.split())) == (2, True), done.stderr


def test_an_unknown_key_names_the_nearest_three_and_no_value(run):
    done = run("serve", "--set", "state_databse=postgresql://boss:s3cret@h/d")
    near = done.stderr.partition("the nearest are: ")[2].partition(" (")[0].split(", ")
    assert (done.exit_code, near[0], len(near)) == (2, "state_database", 3)
    assert "s3cret" not in done.output
    assert {*near} <= {*KEYS}


@pytest.mark.parametrize("key", [key for key in KEYS if key not in OPTION_KEYS])
def test_each_former_option_is_answered_with_its_key(run, key):
    done = run("serve", f"--{key.replace('_', '-')}", "1")
    assert (done.exit_code, f"use --set {key}=1" in done.stderr) == (2, True)


def test_the_help_of_serve_lists_the_keys_and_what_prints_their_values(run):
    shown = run("serve", "--help").stdout
    options, title, keys = shown.partition("Keys of --set (negotiator status --settings lists all keys")
    assert title
    for key in KEYS:
        assert (f"\n  {key}=" in keys) == (key not in OPTION_KEYS)
    assert "web" not in options.partition("Options:")[2]
    assert "Keys of --set" not in run("status", "--help").stdout


def test_the_keys_of_set_are_completed(run):
    words = {"COMP_WORDS": "negotiator serve --set web_b", "COMP_CWORD": "3"}
    printed = run(_MAIN_COMPLETE="bash_complete", **words).stdout
    assert printed.split() == ["plain,web_bind_host=", "plain,web_bind_port="]
    words = {"COMP_WORDS": "negotiator serve --s", "COMP_CWORD": "2"}
    printed = run(_MAIN_COMPLETE="bash_complete", **words).stdout
    assert {"plain,--set", "plain,--state"} <= {*printed.split()}
    assert "web" not in printed


def test_the_table_has_the_same(run):
    lines = run("status", "--settings", "--config", "negotiator.yaml").stdout.splitlines()
    assert lines[0] == "Configuration of the service: negotiator.yaml"
    rows = [line.split() for line in lines if line.startswith("  ")]
    assert ["every", "60.0", "negotiator.yaml:2:1"] in rows
    assert ["watch", "false", "default"] in rows
    assert [row[0] for row in rows[1:]] == list(KEYS)


def test_the_file_is_that_of_the_option_the_variable_or_the_system(run, tmp_path):
    (tmp_path / "etc.yaml").write_text("every: 1\n")
    (tmp_path / "other.yaml").write_text("every: 2\n")
    assert settings(run("status", "--settings", "--json"))["every"][0] == 1
    assert settings(run("status", "--settings", "--json", NEGOTIATOR_CONFIG="other.yaml"))["every"][0] == 2
    words = ("status", "--settings", "--json", "--config", "negotiator.yaml")
    assert settings(run(*words, NEGOTIATOR_CONFIG="other.yaml"))["every"][0] == 60
    assert settings(run("status", "--settings", "--json", "--config", ""))["every"][1] == "default"


def test_all_problems_of_the_file_and_the_options_are_printed_at_once(run):
    file = "web_ky: a\nweb_certificate: none.pem\nbind_port: 99999\nweb_bind_port: 0\n"
    done = run("status", "--settings", "--config", "negotiator.yaml", "--set", "bind_host=a b", file=file)
    assert done.exit_code == 2
    assert "web_certificate" in done.stdout
    problems = [line for line in done.stderr.splitlines() if ": error: " in line]
    assert [line.partition(": error: ")[0] for line in problems] == [
        "--set bind_host=...",
        "negotiator.yaml:1:1",
        "negotiator.yaml:2:1",
        "negotiator.yaml:2:1",
        "negotiator.yaml:3:12",
    ]
    assert "  hint: did you mean web_key?" in done.stderr
    assert done.stderr.splitlines()[-1] == "error: negotiator.yaml has errors: nothing was done"


def test_serve_with_a_broken_file_does_nothing(run, tmp_path):
    done = run("serve", "--config", "negotiator.yaml", "--cycles", 1, file=f"{FILE}stat: x\n")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "negotiator.yaml:5:1: error: unknown key 'stat'" in done.stderr
    assert not (tmp_path / "state").exists()


def test_contents_of_keys_are_never_printed(run, tmp_path):
    (tmp_path / "secret").write_text("0123456789abcdef-secret")
    (tmp_path / "secret").chmod(0o600)
    file = "key_file: secret\nweb_key: secret\nweb_certificate: secret\n"
    for words in ((), ("--json",)):
        done = run("status", "--settings", *words, "--config", "negotiator.yaml", file=file)
        assert str(tmp_path / "secret") in done.stdout
        assert "0123456789abcdef" not in done.output


def test_a_command_takes_its_options_from_the_file(run, tmp_path):
    done = run("status", "--config", "negotiator.yaml")
    assert (done.exit_code, done.stderr) == (
        6,
        f"error: {tmp_path / 'state'}: no state of a negotiator in this folder\n",
    )
    assert str(tmp_path / "other") in run("status", NEGOTIATOR_STATE=str(tmp_path / "other")).stderr


def test_a_command_with_a_broken_file_prints_its_problems(run):
    done = run("status", "--config", "negotiator.yaml", file="stat: x\n")
    assert done.exit_code == 2
    assert "negotiator.yaml:1:1: error: unknown key 'stat'" in done.stderr


def test_a_folder_of_the_file_that_a_command_needs_and_that_is_missing_has_a_place(run):
    done = run("queues", "--config", "negotiator.yaml", file="bundle: none\n")
    assert done.exit_code == 2
    assert "negotiator.yaml:1:1: error: bundle: " in done.stderr


def test_a_command_does_not_read_the_file_if_it_needs_none_of_its_settings(run):
    file = "stat: x\n"
    assert run("expr", "eval", "1+1", NEGOTIATOR_CONFIG="negotiator.yaml", file=file).stdout == "2\n"
    words = ("status", "--config", "negotiator.yaml", "--state", "s")
    assert "stat" not in run(*words, file=file).stderr.replace("state", "")


def test_help_does_not_read_the_file(run, tmp_path):
    (tmp_path / "etc.yaml").write_text("stat: x\n")
    assert run("status").exit_code == 2
    assert run("status", "--help").exit_code == 0
    assert "[env var: NEGOTIATOR_STATE; default: var/state]" in " ".join(
        run("status", "--help").stdout.split()
    )


def test_a_trial_neither_continues_the_state_of_the_service_nor_writes_its_audit_log(run, tmp_path):
    file = f"pool: [{EXAMPLE}]\nstate: state\naudit_log: log\n"
    assert run("run", "--config", "negotiator.yaml", file=file).exit_code == 0
    assert not (tmp_path / "state").exists()
    assert not (tmp_path / "log").exists()
    assert not (tmp_path / "var").exists()


@pytest.fixture
def bundle(tmp_path):
    """A bundle whose own list of administrators is ``boss``."""
    folder = tmp_path / "site"
    folder.mkdir(mode=0o755)
    (folder / "pool.yaml").write_text("scheduleracl: boss\n")
    (folder / "queues.yaml").write_text("partitions: [{name: default, queues: [{name: root}]}]\n")
    return folder


def change(run, user, file):
    """Change a file of the bundle as a user; return the exit code and the message."""
    program = ProgramContext(who=lambda: (user, ()))
    words = ("admin", "change", "queues.yaml", "site/queues.yaml", "--config", "negotiator.yaml", "--wait", 0)
    return run(*words, file=f"bundle: site\nstate: state\naudit_log: log\n{file}", program=program)


@pytest.mark.usefixtures("bundle")
def test_the_list_of_the_file_replaces_that_of_the_bundle(run, tmp_path):
    """The audit log tells the two apart: the bundle of its digest has only one of them."""
    assert "scheduleracl does not have john" in change(run, "john", "").stderr
    assert change(run, "john", "scheduler_acl: john\n").exit_code == 0
    assert change(run, "john", "scheduler_acl: john\ndisable: [quotasets]\n").exit_code == 0
    assert (
        "denied: scheduleracl of the service does not have boss"
        in change(run, "boss", "scheduler_acl: john\n").stderr
    )
    assert change(run, "boss", "").exit_code == 0
    rules = [each["rule"] for each in records(tmp_path / "log", "admin")]
    service = "scheduleracl of the service"
    assert rules == ["scheduleracl", service, service, service, "scheduleracl"]


def test_the_owner_of_the_process_is_an_administrator_whatever_the_list_says(run, bundle):
    words = ("access", "--user", "root", "--config", "negotiator.yaml", "--json")
    done = run(*words, file=f'bundle: {bundle}\nscheduler_acl: ""\n')
    answer = json.loads(done.stdout)["scheduler"]["configure"]
    owner = os.geteuid() == 0
    assert (answer["granted"], answer["rule"] == "process owner") == (owner, owner)


def test_a_set_user_id_program_takes_its_administrators_from_the_file_of_the_system_alone(
    run, bundle, tmp_path, monkeypatch
):
    """Its caller is not the owner of the bundle, and must not name a list with himself."""
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    words = ("access", "--user", "john", "--bundle", bundle, "--json")
    for more in (("--config", "negotiator.yaml"), ("--scheduler-acl", "john")):
        done = run(*words, *more, file="scheduler_acl: john\n")
        assert (done.exit_code, "refused in a set-user-ID program" in done.stderr) == (2, True)
    assert "refused in a set-user-ID program" in run("serve", "--set", "scheduler_acl=john").stderr
    for name, value in (("NEGOTIATOR_CONFIG", "negotiator.yaml"), ("NEGOTIATOR_SCHEDULER_ACL", "john")):
        assert "refused in a set-user-ID program" in run(*words, **{name: value}).stderr
    (tmp_path / "etc.yaml").write_text("scheduler_acl: john\n")
    assert json.loads(run(*words).stdout)["scheduler"]["configure"]["granted"]


def test_each_key_is_an_option_or_one_of_set_and_a_variable_of_serve_and_status():
    for name in ("serve", "status"):
        options = {key_of(each): each for each in loaded(main.commands[name]).params}
        assert [key for key in options if key] == list(KEYS)
        for key in KEYS:
            option = f"--{key.replace('_', '-')}" if key in OPTION_KEYS else f"--set {key}"
            assert option in options[key].opts
            assert isinstance(options[key], SettingKey) == (key not in OPTION_KEYS)
            assert options[key].envvar == f"NEGOTIATOR_{key.upper()}"


def test_the_options_have_the_defaults_and_choices_of_the_settings():
    options = {key_of(each): each for each in loaded(main.commands["status"]).params}
    context = click.Context(loaded(main.commands["status"]))
    for field in attrs.fields(ServiceSettings):
        if field.name in KEYS and field.default not in ((), None):
            assert options[field.name].get_default(context) == field.default, field.name
    for key, enumeration in (("pool_driver", PoolDriver), ("log_format", LogFormat), ("log_level", LogLevel)):
        assert list(options[key].type.choices) == [str(each) for each in enumeration]


def test_the_documentation_has_each_key_with_its_default():
    text = (ROOT / "docs" / "service.md").read_text()
    rows = [line.split("|")[1:4] for line in text.splitlines() if line.startswith("| `")]
    documented = {key.strip(" `"): default.strip(" `") for key, default, _ in rows}
    assert list(documented) == list(KEYS)
    options = {key.strip(" `"): option.strip(" ").partition(",")[0] for key, _, option in rows}
    assert options == {key: f"`{option_of(key)}`" * (key in OPTION_KEYS) for key in KEYS}
    for field in attrs.fields(ServiceSettings):
        if field.name in KEYS and field.default not in ((), None):
            assert documented[field.name] == str(field.default).lower(), field.name


URL = "postgresql://boss:s3cret@h/d"


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_the_url_of_a_database_is_printed_without_its_password(run, tmp_path, words):
    (tmp_path / "negotiator.yaml").touch(0o600)
    file = f"{FILE}state_database: {URL}\n"
    for more, variables in (
        (("--config", "negotiator.yaml"), {}),
        ((), {"NEGOTIATOR_STATE_DATABASE": URL}),
        (("--state-database", URL), {}),
    ):
        done = run("status", "--settings", *words, *more, file=file, **variables)
        assert "postgresql://boss:***@h/d" in done.stdout
        assert "s3cret" not in done.output


@pytest.mark.parametrize(
    "value",
    ["postgresql:/boss:s3cret@h/d", "[postgresql://boss:s3cret@h/d]", "{a: s3cret://h}", "a: b: s3cret://h"],
)
def test_an_invalid_url_of_a_database_is_an_error_that_does_not_show_it(run, value):
    done = run("status", "--settings", "--config", "negotiator.yaml", file=f"{FILE}state_database: {value}\n")
    assert (done.exit_code, "negotiator.yaml:5:" in done.stderr) == (2, True)
    assert "s3cret" not in done.output
    done = run("status", "--settings", "--state-database", value)
    assert (done.exit_code, "expected postgresql://" in done.stderr) == (2, True)
    assert "s3cret" not in done.output


def test_a_password_in_a_file_that_every_user_may_read_is_an_error(run, tmp_path):
    file = tmp_path / "negotiator.yaml"
    file.touch(0o644)
    words = ("status", "--settings", "--config", "negotiator.yaml")
    done = run(*words, file=f"{FILE}state_database: {URL}\n")
    assert (done.exit_code, "every user may read the password in this file" in done.stderr) == (2, True)
    assert "s3cret" not in done.output
    assert run(*words, file=f"{FILE}state_database: postgresql://boss@h/d\n").exit_code == 0
    file.chmod(0o640)
    assert run(*words, file=f"{FILE}state_database: {URL}\n").exit_code == 0


def test_a_command_with_another_state_does_not_use_the_database_of_the_file(run):
    """It would show, or change, the state of the service instead of the one that is named."""
    file = "state_database: postgresql://127.0.0.1:1/d\n"
    warned = run("status", "--config", "negotiator.yaml", file=file)
    assert "warning: postgresql://127.0.0.1:1/d: cannot open the state" in warned.stderr
    refused = run("status", "--config", "negotiator.yaml", "--state", "copy", file=file)
    assert "copy: no state of a negotiator in this folder" in refused.stderr
    refused = run("status", "--config", "negotiator.yaml", file=file, NEGOTIATOR_STATE="copy")
    assert "copy: no state of a negotiator in this folder" in refused.stderr
