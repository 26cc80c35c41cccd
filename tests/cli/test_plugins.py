"""``negotiator plugins``: loaded plugins with their statistics, and refused ones."""

import json

import pytest

from commands import invoke
from negotiator.cli.commands.plugins import plugins

GOOD = """
from negotiator.plugin import hookimpl
__version__ = "2.0"
@hookimpl
def negotiator_constraints(): return []
@hookimpl
def negotiator_matches_made(): pass
"""


@pytest.fixture
def bundle(tmp_path):
    """Return a bundle that names a folder with one valid plugin."""
    folder = tmp_path / "bundle"
    folder.mkdir(mode=0o755)
    (folder / "pool.yaml").write_text("plugins:\n  folders: [mine]\n  order: [good]\n")
    (folder / "mine").mkdir(mode=0o755)
    write(folder / "mine" / "good.py", GOOD)
    return folder


def write(file, text):
    file.write_text(text)
    file.chmod(0o644)


def run(*arguments):
    return invoke(plugins, [str(argument) for argument in arguments])


def test_plugins_are_listed_in_the_order_of_their_calls(bundle):
    """Name, version, status, calls, time, failures, origin and hooks of each, as aligned text."""
    result = run("--bundle", bundle)
    title, headers, good, access, *_ = result.stdout.splitlines()
    assert result.exit_code == 0
    assert title == "Plugins, in the order of their calls"
    assert headers.split()[:8] == ["NAME", "VERSION", "STATUS", "CALLS", "MS", "FAILURES", "SLOW", "ORIGIN"]
    name, version, status, calls, milliseconds, failures, slow, origin, *hooks = good.split()
    assert (name, status, calls, failures, slow) == ("good", "ok", "1", "0", "0")
    assert version.startswith("2.0+sha256:")
    assert float(milliseconds) >= 0
    assert origin == str(bundle / "mine" / "good.py")
    assert hooks == ["constraints,", "matches_made"]
    assert access.split()[0] == "access"
    assert headers.index("ORIGIN") == good.index(origin)


def test_a_plugin_that_is_disabled_is_not_listed(bundle):
    """With the same option as ``run`` and ``check``."""
    result = run("--bundle", bundle, "--disable", "expressions")
    assert result.exit_code == 0
    assert "good" in result.stdout
    assert "expressions" not in result.stdout


def test_the_built_in_bundle_is_the_default():
    """As for ``negotiator run``."""
    result = run()
    assert result.exit_code == 0
    assert "entry point expressions = negotiator_expressions" in result.stdout


def test_a_refused_plugin_is_reported_with_exit_code_1(bundle, tmp_path):
    """With the line and a hint, below the list of the others."""
    more = tmp_path / "more"
    more.mkdir(mode=0o755)
    write(
        more / "bad.py",
        "from negotiator.plugin import hookimpl\n@hookimpl\ndef negotiator_filter_slot(): pass\n",
    )
    write(more / "other.py", GOOD)
    result = run("--bundle", bundle, "--plugins-dir", more)
    assert result.exit_code == 1
    assert (
        f"{more / 'bad.py'}:2: error: plugin bad, hook negotiator_filter_slot: unknown hook" in result.stdout
    )
    assert "  hint: did you mean negotiator_filter_slots?" in result.stdout
    listed = {line.split()[0] for line in result.stdout.split("\n\n")[0].splitlines()[2:]}
    assert {"good", "other"} <= listed
    assert "bad" not in listed


def test_a_warning_does_not_change_the_exit_code(bundle):
    """No plugin was refused."""
    (bundle / "pool.yaml").write_text("plugins:\n  folders: [mine]\n  order: [goood]\n")
    result = run("--bundle", bundle)
    assert result.exit_code == 0
    assert "warning: unknown plugin goood" in result.stdout


def test_a_plugin_that_fails_during_loading_is_reported(bundle):
    """With the plugin and its hook."""
    write(bundle / "mine" / "good.py", GOOD.replace("return []", "return 1 / 0"))
    result = run("--bundle", bundle)
    assert result.exit_code == 1
    assert "hook negotiator_constraints: ZeroDivisionError: division by zero" in result.stdout


def test_json_has_the_same_fields(bundle):
    """All plugins and all problems."""
    (bundle / "pool.yaml").write_text("plugins:\n  folders: [mine]\n  disable: [nobody]\n")
    result = run("--bundle", bundle, "--json")
    shown = json.loads(result.stdout)
    assert result.exit_code == 0
    good = next(info for info in shown["plugins"] if info["name"] == "good")
    assert good.pop("seconds") >= 0
    assert good.pop("version").startswith("2.0+sha256:")
    assert good == {
        "name": "good",
        "origin": str(bundle / "mine" / "good.py"),
        "hooks": ["negotiator_constraints", "negotiator_matches_made"],
        "calls": 1,
        "failures": 0,
        "slow_calls": 0,
        "status": "ok",
        "last_failure": "",
    }
    (problem,) = shown["problems"]
    assert (problem["severity"], problem["message"]) == ("warning", "unknown plugin nobody")


def test_help_has_an_example():
    """And the exit codes."""
    text = run("--help").stdout
    assert "negotiator plugins --bundle" in text
    assert "a plugin was refused" in text
