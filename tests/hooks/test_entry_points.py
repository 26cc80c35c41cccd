"""Entry points are read without ``importlib.metadata``, and are those that it finds."""

import importlib
import subprocess
import sys
import types
from importlib.machinery import PathFinder

import pytest

from negotiator.hooks import entry_points
from negotiator.hooks.entry_points import InstalledPlugin, installed_plugins

METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not this one\n"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a function that installs a distribution in a folder, which is the first one of the path."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(name, text, version="1.0", folder=None, metadata=None):
        info = (folder or tmp_path) / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(metadata or METADATA.format(name=name, version=version))
        if text is not None:
            (info / "entry_points.txt").write_text(text)
        importlib.invalidate_caches()

    return install


def by_library():
    return sorted(entry_points._found())


@pytest.mark.parametrize(
    "text",
    [
        "[negotiator]\nnight = night_plugin\n",
        "# comment\n[console_scripts]\nx = y:z\n\n[negotiator]\n  night=night_plugin:inner.part\n# one more\n day = day\n[other]\na = b\n",
        "[negotiator]\n",
        "[console_scripts]\nnegotiator = y:z\n",
        "[negotiator]\nnight = night_plugin [extra]\n",
        "",
        None,
    ],
)
def test_the_entry_points_of_a_distribution_are_those_that_the_library_finds(site, text):
    before = by_library()
    site("Night.Plugin", text)
    assert sorted(installed_plugins()) == by_library()
    assert (by_library() != before) == ("night" in (text or ""))


def test_the_first_distribution_of_a_name_counts_however_it_is_written(site, tmp_path, monkeypatch):
    site("night_plugin", "[negotiator]\nnight = first\n")
    monkeypatch.syspath_prepend(tmp_path / "other")
    site("Night.Plugin", "[negotiator]\nnight = second\n", folder=tmp_path / "other")
    found = [each.value for each in installed_plugins() if each.name == "night"]
    assert found == ["second"]
    assert sorted(installed_plugins()) == by_library()


def test_the_library_is_asked_where_it_may_find_something_else(site, tmp_path, monkeypatch):
    asked = []
    # Another library of this process may have brought a finder, such as Dask's importlib_metadata.
    own = [each for each in sys.meta_path if each is PathFinder or not hasattr(each, "find_distributions")]
    monkeypatch.setattr(sys, "meta_path", own)
    monkeypatch.setattr(entry_points, "_found", lambda: asked.append(1) or [])
    installed_plugins()
    assert asked == []
    (tmp_path / "old.egg-info").mkdir()
    installed_plugins()
    assert len(asked) == 1
    (tmp_path / "old.egg-info").rmdir()
    finder = types.SimpleNamespace(find_distributions=lambda _context: [], find_spec=lambda *_: None)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    installed_plugins()
    assert len(asked) == 2
    monkeypatch.setattr(sys, "meta_path", [each for each in sys.meta_path if each is not finder])
    site("broken", "[negotiator]\nnight = night\n", metadata="Summary: without a name\n\n")
    installed_plugins()
    assert len(asked) == 3


def test_a_plugin_is_a_module_or_an_attribute_of_it():
    assert InstalledPlugin("x", "os").load() is importlib.import_module("os")
    assert InstalledPlugin("x", "os : path.join").load() is importlib.import_module("os").path.join
    assert InstalledPlugin("x", "os [extra]").load() is importlib.import_module("os")
    with pytest.raises(AttributeError):
        InstalledPlugin("x", "os:no_such_name").load()


def test_a_start_does_not_import_the_library():
    code = "import sys; from negotiator.__main__ import main; sys.argv = ['negotiator', 'queues']\ntry:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"importlib.metadata", "importlib.resources", "email", "zipfile"} & {*done.stderr.split()}
