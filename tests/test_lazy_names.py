"""Names that are imported when they are used first are those that type checkers see."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAZY = [
    "negotiator",
    "negotiator.bundle",
    "negotiator.classad",
    "negotiator.classad.bindings",
    "negotiator.hooks.checks",
    "negotiator.hooks.isolation",
    "negotiator.plugin",
    "negotiator.pool",
    "negotiator_fairshare",
    "negotiator_fairshare.accounts",
    "negotiator_live.pool",
    "negotiator_quotasets",
    "negotiator_quotasets.complexes",
    "negotiator_quotasets.language",
]


def for_type_checkers(module):
    """Yield each name that a module imports under ``if TYPE_CHECKING:``, with the module that it comes from."""
    for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for each in node.body:
                yield from ((name.name, each.module) for name in each.names)


@pytest.mark.parametrize("name", LAZY)
def test_each_name_of_a_type_checker_is_imported_when_it_is_used(name):
    module = import_module(name)
    names = dict(for_type_checkers(module))
    assert names
    assert all(getattr(module, each) is getattr(import_module(home), each) for each, home in names.items())
    assert names.keys() <= set(dir(module))


@pytest.mark.parametrize("name", LAZY)
def test_no_name_is_also_a_module_of_the_package(name):
    """The import of such a module would set the module in place of the name."""
    module = import_module(name)
    names = dict(for_type_checkers(module))
    folders = [Path(each) for each in getattr(module, "__path__", [])]
    assert not {each.stem for folder in folders for each in folder.iterdir()} & names.keys()


def test_the_names_of_the_plugin_interface_are_those_of_a_type_checker():
    plugin = import_module("negotiator.plugin")
    assert set(plugin.__all__) == {"lazy_names", *dict(for_type_checkers(plugin))}


def test_every_module_with_lazy_names_is_in_the_list():
    files = [*ROOT.glob("negotiator/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    lazy = [each for each in files if "__dir__ = lazy_names(" in each.read_text(encoding="utf-8")]
    assert sorted(each.as_posix() for each in lazy) == sorted(import_module(name).__file__ for name in LAZY)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'negotiator\.pool' has no attribute 'read_pond'"):
        import_module("negotiator.pool").read_pond  # noqa: B018
