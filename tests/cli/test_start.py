"""The start of the program: what a command does not need, of plugins and libraries, is not imported."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

from negotiator.cli import bundled, main
from negotiator.cli.commands import COMMANDS
from negotiator.hooks import specs
from negotiator.hooks.command_options import OPTIONS
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.loading import load_plugins
from negotiator.hooks.settings import PluginSettings

ROOT = Path(__file__).parents[2]
SLOW = {
    "attr",
    "attrs",
    "numpy",
    "pluggy",
    "rich",
    "structlog",
    "yaml",
    "logging",
    "negotiator.hooks.loading",
}
#: Of the core and of plugins.
ONLY_OF_CYCLES = (
    "negotiator.classad.columnar",
    "negotiator.cycle.loop",
    "negotiator.hooks.order.",
    "negotiator.hooks.records",
    "negotiator.runtime.",
    "negotiator_condor.charges",
    "negotiator_expressions.gates",
    "negotiator_fairshare.submitter_order",
    "negotiator_limits.charges",
    "negotiator_queue_order.order",
    "negotiator_quotasets.pool",
)
LIST = """
import sys
from negotiator.__main__ import main
sys.argv[0] = 'negotiator'
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def imported(*words, **variables):
    """Return the names of the modules that a call of the program imported, and what it printed."""
    command = [sys.executable, "-c", LIST, *words]
    environment = os.environ | variables
    done = subprocess.run(command, env=environment, input="", capture_output=True, text=True, check=False)
    return set(done.stderr.splitlines()[-1].split()), done.stdout


def completing(line):
    words = line.split(" ")
    return {"_NEGOTIATOR_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}


@pytest.mark.parametrize("words", ["--help", "--version", "run --help", "admin --help", "admin move --help"])
def test_help_imports_neither_plugins_nor_numpy_nor_rich(words):
    modules, printed = imported(*words.split())
    assert printed
    assert sorted(SLOW & modules) == []
    assert not [name for name in modules if name.startswith("negotiator_")]


@pytest.mark.parametrize(
    ("plugin", "command"),
    [("fairshare", "userprio"), ("quotasets", "qconf"), ("quotasets", "qquota")],
)
def test_help_of_a_plugins_command_imports_the_declaration_of_that_command_only(plugin, command):
    modules, printed = imported(command, "--help")
    assert printed.startswith(f"Usage: negotiator {command} ")
    assert sorted(SLOW & modules) == []
    package = f"negotiator_{plugin}"
    declaration = {package, f"{package}.commands", f"{package}.commands.{command}"}
    assert {name for name in modules if name.startswith("negotiator_")} == declaration


def test_an_error_message_imports_neither_plugins_nor_numpy(tmp_path):
    modules, _ = imported("audit", "verify", str(tmp_path / "missing"))
    assert sorted({"numpy", "pluggy", "structlog", "yaml", "negotiator.runtime.run"} & modules) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("expr eval 1+1", "2"),
        ("expr repl", ""),
        ("audit verify {log}", "ok: "),
        ("audit bundle {digest} --audit-log {log}", "Bundle "),
    ],
)
def test_commands_without_a_pool_import_neither_plugins_nor_numpy(tmp_path, words, expected):
    log = tmp_path / "log"
    pool = str(ROOT / "examples" / "first-pool")
    assert CliRunner().invoke(main, ["run", pool, "--audit-log", str(log)]).exit_code == 0
    digest = next((log / "bundles").iterdir()).stem
    modules, printed = imported(*words.format(log=log, digest=digest).split())
    assert printed.startswith(expected)
    assert sorted({"numpy", "pluggy", "structlog", "yaml", "rich.console"} & modules) == []
    assert not [name for name in modules if name.startswith("negotiator_")]


def test_status_which_monitoring_asks_for_often_imports_nothing_that_only_cycles_need(tmp_path):
    state = str(tmp_path / "state")
    pool = str(ROOT / "examples" / "first-pool")
    assert CliRunner().invoke(main, ["run", pool, "--no-audit", "--state", state]).exit_code == 0
    modules, printed = imported("status", "--state", state)
    assert printed.startswith("Negotiator ")
    only_of_cycles = (
        "negotiator.cycle.loop",
        "negotiator.hooks.records",
        "negotiator.runtime.run",
        "rich.live",
    )
    assert sorted(modules.intersection(only_of_cycles)) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("plugins", "Plugins, "),
        ("queues --bundle {policies}/limits", "Queues"),
        ("access --user sue --bundle {policies}/placement-rules", "For user sue"),
        ("place --user sue --bundle {policies}/placement-rules", "placed in "),
        ("qconf -srqsl --bundle {policies}/resource-quotas", ""),
    ],
)
def test_commands_that_load_a_bundle_without_a_pool_import_neither_numpy_nor_what_only_cycles_need(
    words, expected
):
    modules, printed = imported(*words.format(policies=ROOT / "policies").split())
    assert printed
    assert printed.startswith(expected)
    assert sorted({"numpy", "logging", "structlog", "rich.console", "negotiator.ledger"} & modules) == []
    assert not [name for name in modules if name.startswith(ONLY_OF_CYCLES)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("negotiator ", "qquota"),
        ("negotiator r", "run"),
        ("negotiator run --bu", "--bundle"),
        ("negotiator admin mo", "move"),
        ("negotiator run --log-format ", "json"),
        ("negotiator userprio --set", "--set-aside"),
        ("negotiator qconf --bu", "--bundle"),
    ],
)
def test_completion_imports_neither_plugins_nor_numpy_nor_rich(line, expected):
    modules, printed = imported(**completing(line))
    assert f"plain,{expected}" in printed.splitlines()
    assert sorted(SLOW & modules) == []


def test_the_list_of_commands_has_the_help_line_of_each_command():
    listed = {name: command.load().get_short_help_str(200) for name, command in main.commands.items()}
    assert listed == COMMANDS


def test_the_commands_of_bundled_plugins_are_those_that_the_plugins_offer():
    manager, _ = load_plugins(PluginSettings())
    offered = {}
    for each in manager.ask(specs.negotiator_commands).records:
        help_line = each.record.get_short_help_str(200)
        offered.setdefault(each.plugin, {})[each.record.name] = help_line
    assert offered == bundled.COMMANDS


def test_the_bundled_plugins_are_the_entry_points_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["negotiator"] == bundled.PLUGINS


def test_a_plugins_command_can_have_an_option_for_each_field_of_its_targets():
    assert tuple(OPTIONS) == tuple(field.name for field in attrs.fields(CommandTargets))


def test_a_program_that_has_just_started_finds_the_hooks_of_all_plugins():
    """In a new process: hooks that are imported when they are used first are found although nothing used them before."""
    command = [sys.executable, "-m", "negotiator", "plugins", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    listed = json.loads(done.stdout)
    assert {each["name"] for each in listed["plugins"]} == set(bundled.PLUGINS)
    assert all(each["hooks"] for each in listed["plugins"])
    assert listed["problems"] == []


def test_a_command_of_a_bundled_plugin_runs_with_its_own_options():
    done = subprocess.run(
        [sys.executable, "-m", "negotiator", "qconf", "--help"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "-help lists the switches" in done.stdout) == (0, True)
