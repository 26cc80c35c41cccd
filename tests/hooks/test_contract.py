"""The plugin contract: every hook is documented with its exact arguments, and has an example that runs and a test."""

import ast
import inspect
import re
from pathlib import Path

import attrs
import click
import numpy as np
import pytest

import negotiator.plugin
from negotiator import testing
from negotiator.classad import parse
from negotiator.hooks import specs
from negotiator.hooks.checks.declarations import checked_starting_files
from negotiator.hooks.manager import HOOKS as DECLARED
from negotiator.hooks.plugin_output import plugin_output_to_stderr
from negotiator.plugin import (
    AccessKind,
    AccessQuestion,
    Application,
    ConfiguredRule,
    CounterUsage,
    OwnFile,
    PlacedApplication,
    QueueNotice,
    QueueTarget,
    Source,
    StartingRequest,
)

HERE = Path(__file__).parent
DOCUMENT = (HERE.parents[1] / "docs" / "hooks.md").read_text(encoding="utf-8")
HOOKS = pytest.mark.parametrize("spec", DECLARED.values(), ids=DECLARED)


def documented(name):
    """Return the section of docs/hooks.md about one hook."""
    parts = re.split(r"^### ", DOCUMENT, flags=re.MULTILINE)[1:]
    return {part.split("(")[0].strip("`"): part.split("\n## ")[0] for part in parts}.get(name, "")


def snippets(text):
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def run(code):
    """Execute an example in a scope with the names that the document imports or defines elsewhere."""
    scope = {name: getattr(negotiator.plugin, name) for name in negotiator.plugin.__all__}
    scope |= {"attrs": attrs, "np": np, "parse": parse, "Path": Path, "DOWN": ["a"]}
    scope |= {"show_calendar": click.Command("calendar"), "__name__": "example"}
    scope |= {"SUSPENDED": ["eve"], "DIRECTORY": {"bob": ("staff",)}, "mail": print}
    exec(compile(code, "example", "exec", dont_inherit=True), scope)  # noqa: S102 - our own documentation
    return scope


def ask(name, code):
    """Call the hook that an example implements, through the guard."""
    scope = run(code)
    plugin = type("Plugin", (), {name: staticmethod(scope[name])})()
    slots = testing.table('Machine = "a"\nLastHeardFrom = 5\n\nMachine = "b"\nLastHeardFrom = 1749999999')
    given = {
        "slots": slots,
        "ads": slots,
        "matches": [testing.match()],
        "summary": testing.summary([testing.match()]),
        "users": ["eve", "bob"],
    }
    given["questions"] = [
        AccessQuestion("eve", (), AccessKind.CONFIGURE),
        AccessQuestion("bob", (), AccessKind.CONFIGURE),
    ]
    given["applications"] = [PlacedApplication("bob", ("staff",), "root.a")]
    given["changes"] = [QueueNotice("root.old", "draining", testing.cycle_record().now - 2 * 86400, ("bob",))]
    given |= {"report": "hosts", "used": CounterUsage({("jobs on host", "a"): 3}, {}, {})}
    taken = {key: value for key, value in given.items() if key in DECLARED[name].arguments}
    return testing.call(plugin, name, **taken)


def test_there_are_hooks():
    """Without hooks the tests below would test nothing."""
    assert len(DECLARED) >= 13
    assert all(name.startswith("negotiator_") for name in DECLARED)


def test_every_hook_can_be_named_from_the_package_of_the_contract():
    """The modules of the package are an arrangement; callers import ``specs``."""
    named = {name: value for name, value in vars(specs).items() if name.startswith("negotiator_")}
    assert named == dict(DECLARED)


@HOOKS
def test_the_document_has_the_exact_arguments(spec):
    """The heading is the signature, and the arguments are explained in its order."""
    text = documented(spec.name)
    assert text.startswith(f"`{spec.name}({', '.join(spec.arguments)})`\n")
    assert tuple(re.findall(r"^- `(\w+)`: \S", text, flags=re.MULTILINE)) == spec.arguments
    assert ("**Fails closed**" if spec.enforces else "**Fails open**") in text
    assert re.search(r"^Returns \w+", text, flags=re.MULTILINE)


def test_the_document_has_no_other_hooks():
    """Every documented hook is declared."""
    assert re.findall(r"^### `(\w+)\(", DOCUMENT, flags=re.MULTILINE) == list(DECLARED)


@HOOKS
def test_the_docstring_has_summary_arguments_example_and_answer(spec):
    """One line first, then each argument, an example, and the returned value."""
    text = inspect.getdoc(spec.function)
    assert re.match(r"[A-Z][^\n]*\.\n\n", text)
    assert tuple(re.findall(r"^:param (\w+): \S", text, flags=re.MULTILINE)) == spec.arguments
    assert re.search(r"^Example::\n\n    \S", text, flags=re.MULTILINE)
    returns = inspect.signature(spec.function).return_annotation
    assert bool(re.search(r"^:return: \S", text, flags=re.MULTILINE)) == (returns != "None")


#: What the examples of observers print.
PRINTED = {
    "negotiator_matches_made": "1.0 slot1@a\n",
    "negotiator_cycle_ended": "1 matched, 0 waiting\n",
    "negotiator_queues_changed": "('bob',) root.old is closing, since 2 days: move your jobs\n",
}


@HOOKS
def test_the_examples_run(spec, capsys):
    """The examples in the document and in the docstring are working plugins."""
    docstring = inspect.getdoc(spec.function)
    indented = re.search(r"^Example::\n\n(.*?)^(?=:|\Z)", docstring, flags=re.MULTILINE | re.DOTALL)[1]
    (written,) = snippets(documented(spec.name))
    with plugin_output_to_stderr():
        for code in (written, inspect.cleandoc(indented)):
            assert bool(ask(spec.name, code)) == (spec.name not in PRINTED)
    assert capsys.readouterr().err == PRINTED.get(spec.name, "") * 2


def answers_of_examples(hook):
    """Return what the examples in the document and in the docstring return, each once."""
    docstring = inspect.getdoc(DECLARED[hook].function)
    example = re.search(r"^Example::\n\n(.*?)^:", docstring, flags=re.MULTILINE | re.DOTALL)[1]
    (written,) = snippets(documented(hook))
    return [tuple(run(code)[hook]()) for code in (written, inspect.cleandoc(example))]


def test_the_placement_rules_of_the_examples_return_a_queue():
    """The hook only declares the rule; its function is called when an application is placed."""
    for (rule,) in answers_of_examples("negotiator_placement_rules"):
        configured = ConfiguredRule(rule.name, "", False, lambda _: True, Source("queues.yaml", 3))
        of_project = Application("bob", tags={"project": "web.one"})
        assert rule.target(of_project, configured) == QueueTarget("web_dot_one")
        assert rule.target(Application("bob"), configured) is None


def test_the_starting_bundles_of_the_examples_have_groups_of_the_administrators_files():
    request = StartingRequest(
        folder=Path("site"), files=(OwnFile(Path("a"), b"biology\n"),), answers={"quota": "3"}
    )
    for (bundle,) in answers_of_examples("negotiator_starting_bundles"):
        made = checked_starting_files(bundle.make(request))
        assert b"GROUP_NAMES = biology" in made.files["groups.conf"]
        assert "pool.yaml" in made.files


def test_the_examples_of_a_whole_plugin_and_of_its_test_run(tmp_path, monkeypatch):
    """The first block of code in the document is the plugin, the last two are its tests."""
    first, *_, with_cycle, with_call = snippets(DOCUMENT)
    (tmp_path / "only_linux.py").write_text(first)
    monkeypatch.chdir(tmp_path)
    run(with_cycle)["test_a_windows_slot_gets_no_job"]()
    run(with_call)["test_windows_gets_no_job"]()


@HOOKS
def test_every_hook_has_a_test(spec):
    """One of the files ``test_each_*_hook.py`` has a test whose name begins with that of the hook."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in HERE.glob("test_each_*_hook.py")]
    names = [node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert any(name.startswith(f"test_{spec.name}_") for name in names)


def test_the_public_names_are_documented():
    """Each name of ``negotiator.plugin`` is in the document."""
    assert sorted(name for name in negotiator.plugin.__all__ if f"`{name}`" not in DOCUMENT) == []
