"""The three sources of plugins, and the problems of refused ones."""

import gc
import sys
from importlib.metadata import distribution
from itertools import count

import pytest

from distributions import install
from negotiator.hooks import dropins, specs
from negotiator.hooks.candidates import from_entry_points
from negotiator.hooks.loading import PluginSettings, load_plugins
from negotiator.records import Severity

CONTENT = "@hookimpl\ndef negotiator_commands(): yield click.Command({!r})\n"
_numbers = count()


OURS = tuple(entry.name for entry in distribution("pool-negotiator").entry_points.select(group="negotiator"))


def load(**settings):
    """Load what is installed besides the bundled plugins."""
    disabled = (*settings.pop("disable", ()), *OURS)
    manager, problems = load_plugins(PluginSettings(disable=disabled, **settings))
    return manager, [str(p) for p in problems if not any(f"plugin {name}" in p.message for name in OURS)]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return the name of a module that can be imported from ``tmp_path`` and was not yet imported."""
    monkeypatch.syspath_prepend(tmp_path)
    name = f"tested_module_{next(_numbers)}"
    yield name
    sys.modules.pop(name, None)


HEADER = "import click\nfrom negotiator.plugin import *\n"


def test_an_entry_point_may_name_a_module(tmp_path, module):
    """The plugin has the entry point's name and the distribution's version."""
    install(tmp_path, "night-shift", module, source=HEADER + CONTENT.format("night"))
    manager, problems = load()
    assert problems == []
    assert manager.plugin_set == ("night-shift 1.2.3",)
    assert manager.plugins[0].origin == f"entry point night-shift = {module} (night-shift-dist 1.2.3)"
    assert manager.plugins[0].hooks == ("negotiator_commands",)
    assert [stamped.record.name for stamped in manager.ask(specs.negotiator_commands).records] == ["night"]


OBJECT = """
class Policy:
    def __init__(self, text): self.text = text
    @hookimpl
    def negotiator_commands(self): yield click.Command(self.text)
policy = Policy("mine")
nothing = None
"""


def test_an_entry_point_may_name_an_object(tmp_path, module):
    """Its methods are the implementations."""
    install(tmp_path, "night", f"{module}:policy", source=HEADER + OBJECT)
    manager, problems = load()
    assert problems == []
    assert [stamped.record.name for stamped in manager.ask(specs.negotiator_commands).records] == ["mine"]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("Policy", "plugin night is a class (name an instance of it, or its module)"),
        ("nothing", "plugin night is None"),
        ("missing", "plugin night can't be loaded: AttributeError: "),
    ],
)
def test_an_entry_point_that_names_no_plugin_is_refused(tmp_path, module, what, message):
    """The problem has the name of the entry point."""
    install(tmp_path, "night", f"{module}:{what}", source=HEADER + OBJECT)
    manager, problems = load()
    assert manager.plugin_set == ()
    assert problems[0].startswith(f"entry point night = {module}:{what} (night-dist 1.2.3): error: {message}")


def test_an_entry_point_without_its_module_is_refused(tmp_path, module):
    """The others are loaded."""
    install(tmp_path, "gone", f"{module}_gone")
    install(tmp_path, "here", module, source=HEADER + CONTENT.format("x"))
    manager, problems = load()
    assert manager.plugin_set == ("here 1.2.3",)
    assert problems == [
        (
            f"entry point gone = {module}_gone (gone-dist 1.2.3): error: plugin gone can't be loaded:"
            f" ModuleNotFoundError: No module named '{module}_gone'"
        )
    ]


def test_a_bundle_may_name_modules(tmp_path, module):
    """The plugin has the module's name; its version is the module's, if any, and the hash of its file."""
    (tmp_path / f"{module}.py").write_text(HEADER + CONTENT.format("x"))
    manager, problems = load_plugins(PluginSettings(modules=(module,)), entry_points=False)
    assert problems == ()
    assert manager.plugins[0].name == module
    assert manager.plugins[0].version.startswith("sha256:")
    assert manager.plugins[0].origin == f"module {module}"
    sys.modules[module].__version__ = "4 beta"
    manager, _ = load_plugins(PluginSettings(modules=(module,)), entry_points=False)
    (listed,) = manager.plugin_set
    assert listed.startswith(f"{module} 4beta+sha256:")


def test_one_module_is_not_two_plugins(tmp_path, module):
    """Each of its answers would count twice."""
    install(tmp_path, "night", module, source=HEADER + CONTENT.format("x"))
    manager, problems = load(modules=(module,))
    assert manager.plugin_set == ("night 1.2.3",)
    assert problems == [
        f"module {module}: error: plugin {module} is the same as plugin night (leave out one of the two)"
    ]


def test_files_and_packages_of_a_folder_are_plugins(plugins):
    """Each under its own name; names that begin with _ or ., tests and other files than Python's are ignored."""
    ignored = (
        "_helper.py",
        ".hidden.py",
        "test_b.py",
        "b_test.py",
        "conftest.py",
        "notes.txt",
        "data/table.csv",
    )
    for name in ("b.py", "a/__init__.py", *ignored):
        plugins.write(name, CONTENT.format(name))
    manager = plugins.load()
    assert plugins.problems == ()
    assert [info.name for info in manager.plugins] == ["a", "b"]
    assert [info.origin for info in manager.plugins] == [
        str(plugins.folder / "a"),
        str(plugins.folder / "b.py"),
    ]


def test_the_version_of_a_file_is_the_hash_of_its_content(plugins):
    """An edit is visible in the audit log, even if ``__version__`` is unchanged."""
    plugins.write("a.py", CONTENT.format("x"))
    first = plugins.load().plugin_set
    plugins.write("a.py", CONTENT.format("y"))
    second = plugins.load().plugin_set
    plugins.write("a.py", "__version__ = '2'\n" + CONTENT.format("y"))
    third = plugins.load().plugin_set
    assert len({first, second, third}) == 3
    assert first == plugins_again(plugins, CONTENT.format("x"))
    assert third[0].startswith("a 2+sha256:")


def plugins_again(plugins, content):
    plugins.write("a.py", content)
    return plugins.load().plugin_set


def test_the_version_of_a_package_covers_all_its_modules(plugins):
    """Code that is imported later counts as much."""
    plugins.write("a/__init__.py", CONTENT.format("x"))
    plugins.write("a/inner/deep.py", "x = 1")
    first = plugins.load().plugin_set
    plugins.write("a/inner/deep.py", "x = 2")
    assert plugins.load().plugin_set != first


def test_a_folder_is_loaded_anew_each_time(plugins):
    """The old manager still uses the old code, so that a bundle can be replaced as a whole."""
    plugins.write(
        "a/__init__.py",
        "@hookimpl\ndef negotiator_commands():\n    from . import name\n    yield name.command\n",
    )
    plugins.write("a/name.py", "command = click.Command('old')")
    old = plugins.load()
    plugins.write("a/name.py", "command = click.Command('new')")
    new = plugins.load()
    assert [m.ask(specs.negotiator_commands).records[0].record.name for m in (new, old)] == ["new", "old"]


def test_a_package_imports_its_own_modules(plugins):
    """With a relative import, at any depth."""
    plugins.write("a/__init__.py", "from .inner.deep import negotiator_commands\n")
    plugins.write("a/inner/__init__.py", "", header="")
    plugins.write("a/inner/deep.py", CONTENT.format("deep"))
    manager = plugins.load()
    assert plugins.problems == ()
    assert manager.ask(specs.negotiator_commands).records[0].record.name == "deep"


def test_no_compiled_files_are_written_or_read(plugins):
    """The checked code is run, not a file of ``__pycache__``."""
    plugins.write("a/__init__.py", "from . import b\n" + CONTENT.format("x"))
    plugins.write("a/b.py", "")
    assert plugins.load().plugin_set
    assert sorted(path.name for path in plugins.folder.rglob("*")) == ["__init__.py", "a", "b.py"]


def test_a_dropped_in_plugin_replaces_no_other_module(plugins):
    """A file ``json.py`` is a plugin called json, and does not replace the module json."""
    plugins.write("json.py", CONTENT.format("x"))
    plugins.write("b.py", "import json\njson.dumps(1)\n" + CONTENT.format("x"))
    assert len(plugins.load().plugin_set) == 2
    assert plugins.problems == ()


def test_disabled_plugins_are_not_imported(plugins, tmp_path, module):
    """By name, from all three sources, even if they would have been refused."""
    install(tmp_path, "night", module, source="1 / 0")
    plugins.write("a.py", "1 / 0")
    plugins.write("b.py", CONTENT.format("x")).chmod(0o666)
    plugins.write("c.py", CONTENT.format("x"))
    (tmp_path / f"{module}_2.py").write_text("1 / 0")
    settings = PluginSettings(
        folders=(plugins.folder,),
        modules=(f"{module}_2",),
        disable=("night", "a", "b", f"{module}_2", *OURS),
    )
    manager, problems = load_plugins(settings)
    assert [info.name for info in manager.plugins] == ["c"]
    assert problems == ()
    assert module not in sys.modules


@pytest.mark.parametrize("key", ["disable", "order"])
def test_an_unknown_name_is_warned_of(plugins, key):
    """With a similar name, if there is one."""
    plugins.write("maintenance.py", CONTENT.format("x"))
    plugins.load(**{key: ("maintenence", "zzz")})
    assert [str(problem) for problem in plugins.problems] == [
        f"plugins: {key}: warning: unknown plugin maintenence (did you mean maintenance?)",
        f"plugins: {key}: warning: unknown plugin zzz (there are: maintenance)",
    ]
    assert {problem.severity for problem in plugins.problems} == {Severity.WARNING}


def test_two_plugins_of_one_name_are_an_error(plugins, tmp_path):
    """Both origins are named; the second is not loaded."""
    first = plugins.write("a.py", CONTENT.format("first"))
    second = tmp_path / "more" / "a.py"
    second.parent.mkdir(mode=0o755)
    second.write_text("1 / 0")
    settings = PluginSettings(folders=(plugins.folder, second.parent))
    manager, problems = load_plugins(settings, entry_points=False)
    assert [stamped.record.name for stamped in manager.ask(specs.negotiator_commands).records] == ["first"]
    assert [str(problem) for problem in problems] == [
        (
            f"{second}: error: two plugins are called a: {first} and {second}"
            " (disable both (plugins: disable:), or rename one)"
        )
    ]


def test_of_two_installed_plugins_of_one_name_the_same_is_loaded_each_time(tmp_path, module):
    """Which one does not depend on the order in which distributions are found."""
    for letter in "bac":
        install(tmp_path, "night", f"{module}:{letter}", by=f"dist-{letter}")
    assert [each.origin for each in from_entry_points() if each.name == "night"] == [
        f"entry point night = {module}:{letter} (dist-{letter} 1.2.3)" for letter in "abc"
    ]


def test_metadata_that_cannot_be_read_is_an_error(tmp_path, module, plugins):
    """The installed plugins are unknown then; those of folders are loaded and listed."""
    install(tmp_path, "night", module)
    (tmp_path / "night_dist-1.2.3.dist-info" / "entry_points.txt").write_bytes(b"[negotiator]\nx = \xff\n")
    plugins.write("a.py", CONTENT.format("x"))
    manager, problems = load(folders=(plugins.folder,))
    assert [info.name for info in manager.plugins] == ["a"]
    assert problems[0].startswith(
        "entry points: error: the entry points of installed distributions can't be read: UnicodeDecodeError: "
    )


def test_the_code_of_a_plugin_is_compiled_as_it_is(plugins):
    """The ``from __future__`` imports of the program do not apply to it: its annotations are evaluated."""
    plugins.write(
        "a.py", "class A:\n    x: int\nassert A.__annotations__ == {'x': int}\n" + CONTENT.format("x")
    )
    plugins.load()
    assert plugins.problems == ()


def test_a_folder_that_is_named_twice_is_loaded_once(plugins):
    """A file is not two plugins of one name."""
    plugins.write("a.py", CONTENT.format("x"))
    settings = PluginSettings(folders=(plugins.folder, plugins.folder))
    manager, problems = load_plugins(settings, entry_points=False)
    assert (len(manager.plugins), problems) == (1, ())


def test_a_missing_folder_is_an_error(tmp_path):
    """A bundle that relies on it must not be used."""
    _, (problem,) = load_plugins(PluginSettings(folders=(tmp_path / "gone",)), entry_points=False)
    assert str(problem) == (
        f"{tmp_path / 'gone'}: error: the plugins folder can't be read: No such file or directory"
    )


def test_an_invalid_plugin_name_is_refused(plugins):
    """Names are used in records and command lines."""
    plugins.write("two words.py", "1 / 0")
    assert plugins.refusals() == [
        (
            f"{plugins.folder / 'two words.py'}: error: invalid name of a plugin: 'two words'"
            " (letters, digits, '_', '-' and '.', at most 100)"
        )
    ]


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("x = 1\n1 / 0\n", 2, "ZeroDivisionError: division by zero"),
        ("import json\n\njson.loads('{')\n", 3, "JSONDecodeError: Expecting property name"),
        ("x = (\n", 1, "SyntaxError: '(' was never closed"),
        ("raise SystemExit(0)", 1, "SystemExit: 0"),
        ("import no_such_module", 1, "ModuleNotFoundError: No module named 'no_such_module'"),
        ("from . import sibling", 1, "ImportError: "),
    ],
)
def test_a_plugin_that_fails_at_import_is_refused_at_its_line(plugins, source, line, message):
    """The others are loaded and listed."""
    file = plugins.write("bad.py", source, header="")
    plugins.write("good.py", CONTENT.format("x"))
    manager = plugins.load()
    assert [info.name for info in manager.plugins] == ["good"]
    (problem,) = plugins.problems
    assert problem.severity is Severity.ERROR
    assert (problem.source.file, problem.source.line) == (str(file), line)
    assert problem.message.startswith(f"plugin bad can't be loaded: {message}")


def test_a_syntax_error_has_its_line(plugins):
    """And its column."""
    plugins.write("bad.py", "x = 1\ny = )\n", header="")
    plugins.load()
    (problem,) = plugins.problems
    assert (problem.source.line, problem.source.column, problem.excerpt) == (2, 5, "y = )")


def test_bytes_that_are_not_python_are_refused(plugins):
    """The problem names the NUL or the wrong encoding."""
    plugins.write("a.py", "").write_bytes(b"x = '\xff'\n")
    plugins.write("b.py", "").write_bytes(b"\x00\x00")
    a, b = plugins.refusals()
    assert "SyntaxError: " in a
    assert "null bytes" in b


def test_without_sources_no_plugin_is_loaded():
    """And there is no problem."""
    manager, problems = load_plugins(PluginSettings(), entry_points=False)
    assert (manager.plugins, manager.plugin_set, problems) == ((), (), ())


def test_bundled_plugins_are_loaded_by_their_entry_points():
    """The central expressions among them."""
    assert set(OURS) >= {"access", "expressions", "groups", "placement"}
    manager, _ = load_plugins(PluginSettings())
    origins = {info.name: info.origin for info in manager.plugins}
    assert origins.keys() >= set(OURS)
    assert origins["expressions"].startswith(
        "entry point expressions = negotiator_expressions (pool-negotiator "
    )


def dropped_in():
    """Return the modules of dropped-in plugins in ``sys.modules``."""
    return {name for name in sys.modules if name.startswith(dropins.PREFIX)}


def test_the_modules_of_dropped_in_plugins_are_freed_with_their_manager(plugins):
    """The memory of a process that reloads bundles does not grow."""
    gc.collect()  # the managers of earlier tests
    before = dropped_in()
    plugins.write("a/__init__.py", "from . import name\n@hookimpl\ndef negotiator_commands(): return []\n")
    plugins.write("a/name.py", "x = 1")
    manager = plugins.load()
    assert len(dropped_in() - before) == 2
    assert manager.plugin_set
    del manager
    gc.collect()
    assert dropped_in() == before


@pytest.mark.parametrize(
    "source", ["from . import name\n1 / 0\n", "@hookimpl\ndef negotiator_nothing(): pass\n"]
)
def test_the_modules_of_a_refused_plugin_are_freed_at_once(plugins, source):
    """Whether it raises, or has a problem."""
    before = dropped_in()
    plugins.write("a/__init__.py", source)
    plugins.write("a/name.py", "x = 1")
    assert plugins.refusals()
    assert dropped_in() == before


@pytest.mark.parametrize(
    ("hook", "offered"),
    [("negotiator_commands", "commands"), ("negotiator_starting_bundles", "starting bundles")],
)
def test_what_a_plugin_offers_that_is_not_installed_is_warned_of(plugins, hook, offered):
    """Commands and starting bundles are looked up before a bundle is known."""
    plugins.write("a.py", f"@hookimpl\ndef {hook}(): return []\n")
    (problem,) = plugins.load().hooks_not_called()
    assert f"plugin a: its {offered} are not offered, since it is not installed" in str(problem)
