"""A module that another user could have written is not imported."""

import os
import sys

import pytest

from negotiator.hooks.loading import PluginSettings, load_plugins

OTHER_USER = 12345


@pytest.fixture
def places(tmp_path, monkeypatch):
    package = tmp_path / "site_policy_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("from negotiator.plugin import hookimpl\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield package
    for name in [each for each in sys.modules if each.startswith(package.name)]:
        del sys.modules[name]


def refusals(module):
    _, problems = load_plugins(PluginSettings(modules=(module,)), entry_points=False)
    return [str(each) for each in problems if each.severity == "error"]


def test_a_module_that_only_the_caller_could_have_written_is_imported(places):
    assert refusals(f"{places.name}.part") == []


@pytest.mark.parametrize("bad", ["..", ".", "__init__.py", "part.py", "cache"])
def test_a_module_that_anybody_could_have_written_is_not_imported(places, bad):
    """Its folder, its package and all modules of that count, and what Python has cached."""
    path = places / ("__pycache__" if bad == "cache" else bad)
    if bad == "cache":
        path.mkdir()
    path.chmod(0o777)
    (places / "part.py").write_text("raise ValueError('was executed')")
    (message,) = refusals(f"{places.name}.part")
    assert f"plugin {places.name}.part is refused: world-writable" in message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_module_of_another_user_is_not_imported(places):
    os.chown(places / "part.py", OTHER_USER, -1)
    assert "neither to root nor to the caller" in refusals(f"{places.name}.part")[0]
