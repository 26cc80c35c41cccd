"""The owners of keys, the plugins that a bundle loads, and plugins that fail while it is loaded."""

import pytest

from negotiator.bundle import BundleError, load_bundle


def test_two_plugins_may_not_own_one_key(bare):
    """Both are named; a key of the core cannot be owned either."""
    for name, key in (("one", "shared"), ("two", "Shared"), ("three", "audit")):
        bare.plugin(
            name, f"S = attrs.make_class('S', {{{key!r}: attrs.field(default=1, type=int)}})\n{SECTION})"
        )
    problems = bare.yaml("")
    assert len(problems) == 2
    assert problems[0].startswith(
        f"{bare.plugins}/three.py: error: the key 'audit' of plugin three already belongs to the core"
    )
    assert "two.py: error: the key 'Shared' of plugin two already belongs to plugin one" in problems[1]


SECTION = "@hookimpl\ndef negotiator_section():\n    return Section(schema=S"


@pytest.fixture
def section(bare):
    """Return a function that writes a plugin with one class S and returns the problems."""

    def messages(text, check="", settings=""):
        bare.plugin("own", f"{text}\n{SECTION}{', check=check' if check else ''})\n{check}")
        return bare.yaml(settings)

    return messages


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("x: set[int] = ()", "S.x has a type that settings can't have: set[int]"),
        ("x: tuple[int, int] = (1, 2)", "S.x has a type that settings can't have: tuple[int, int]"),
        ("x: dict[int, str] = None", "S.x has a type that settings can't have: dict[int, str]"),
        ("x: int | str = 3", "S.x has a type that settings can't have: int | str"),
        ("x: object = 3", "S.x has a type that settings can't have: <class 'object'>"),
        ("x: list[bytes] = ()", "S.x has a type that settings can't have: <class 'bytes'>"),
        ("x: Nowhere = 3", "the annotations of S can't be resolved: NameError: "),
    ],
)
def test_an_unsupported_schema_is_reported_before_the_key_is_used(section, field, message):
    """The author sees the error, not the first administrator who uses the key."""
    (problem,) = section(f"@attrs.frozen\nclass S:\n    {field}\n")
    assert "/own.py: error: plugin own: " in problem
    assert message in problem


def test_a_key_without_default_is_required(section):
    """The plugin that needs it is named."""
    assert section("@attrs.frozen\nclass S:\n    need: int\n") == [
        "pool.yaml:1:1: error: plugin own: the key 'need' is missing"
    ]


CLASS = "@attrs.frozen\nclass S:\n    x: int = 1\n    e: Expression | None = None\n"


def test_problems_of_a_sections_check_are_reported(section):
    """They have the line of the value; an error refuses the bundle."""
    check = (
        "def check(settings):\n"
        "    yield Problem(Severity.ERROR, settings.e.source, 'too odd')\n"
        "    yield Problem(Severity.WARNING, Source(''), f'x is {settings.x}')\n"
    )
    assert section(CLASS, check, "# first\ne: odd\nx: 5\n") == [
        "pool.yaml:2:1: warning: x is 5",
        "pool.yaml:2:4: error: too odd",
    ]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("def check(settings):\n    raise KeyError('no')", "its check failed: KeyError: 'no'"),
        ("def check(settings):\n    raise SystemExit(0)", "its check failed: SystemExit: 0"),
        ("def check(settings):\n    return 5", "its check failed: TypeError: "),
        ("def check(settings):\n    return None", "its check failed: TypeError: "),
        ("def check(settings):\n    return ['x']", "its check must yield Problem, got str"),
    ],
)
def test_a_check_that_fails_refuses_the_bundle(section, check, message):
    """No exception of a plugin ends the program."""
    (problem,) = section(CLASS, check)
    assert problem.startswith(f"pool.yaml:1:1: error: plugin own: {message}")


def test_a_check_that_never_ends_is_cut_off(section):
    """An endless generator gives a bounded number of problems."""
    check = "def check(settings):\n    n = 0\n    while True:\n        n += 1\n"
    check += "        yield Problem(Severity.WARNING, Source('x'), str(n))\n"
    assert len(section(CLASS, check)) == 1000


@pytest.mark.parametrize("hook", ["section", "constraints", "job_attributes", "policy", "unused_hooks"])
def test_a_hook_that_fails_at_loading_refuses_the_bundle(bare, hook):
    """The problem names the plugin, its hook and its file."""
    arguments = "" if hook == "section" else "settings"
    bare.plugin("bad", f"@hookimpl\ndef negotiator_{hook}({arguments}):\n    raise RuntimeError('no way')\n")
    (problem,) = bare.yaml("")
    assert problem.startswith(f"{bare.plugins}/bad.py: error: plugin bad ")
    assert f"hook negotiator_{hook}: RuntimeError: no way" in problem


def test_invalid_settings_give_no_consequential_problems(bare):
    """Failures of other hooks that get settings which could not be read are not reported."""
    bare.plugin(
        "own", f"{CLASS}{SECTION})\n@hookimpl\ndef negotiator_constraints(settings):\n    return settings.x\n"
    )
    assert bare.yaml("x: wrong") == ["pool.yaml:1:4: error: x: expected a whole number, got 'wrong'"]


def test_a_plugin_file_that_cannot_be_loaded_refuses_the_bundle(bare):
    """A bundle that relies on a policy must not run without it."""
    bare.plugin("broken", "raise ValueError('oh')\n")
    (problem,) = bare.yaml("")
    assert "plugin broken can't be loaded: ValueError: oh" in problem
    with pytest.raises(BundleError, match="oh"):
        bare.load()


def test_keys_of_a_refused_plugin_are_not_unknown_keys(bundle):
    """They may be its keys: the reason of the refusal is named instead."""
    bundle.plugin("broken", "raise ValueError('oh')\n")
    bundle.write("a.conf", "NEGOTIATOR_PE_OF_BROKEN = true\n")
    refusal = "it may belong to a plugin that was refused (plugin broken can't be loaded: ValueError: oh)"
    problems = [each for each in bundle.yaml("holidays: 1\nnumbr: 2\n") if "broken.py" not in each]
    assert problems == [
        f"pool.yaml:1:1: warning: 'holidays' is not checked: {refusal} (mend the plugin first)",
        f"pool.yaml:2:1: warning: 'numbr' is not checked: {refusal} (mend the plugin first; or did you mean number?)",
        f"a.conf:1:1: warning: NEGOTIATOR_PE_OF_BROKEN is not checked: {refusal} (mend the plugin first)",
    ]
    bundle.plugin("broken", "@hookimpl\ndef negotiator_section():\n    return 1 / 0\n")
    problems = bundle.yaml("holidays: 1\n")
    assert any("'holidays' is not checked" in each and "ZeroDivisionError" in each for each in problems)


def test_a_bundle_names_its_plugins_folder(bare):
    """Relative to itself; a folder that is not named is not loaded."""
    bare.write(
        "plugins/mine.py",
        "from negotiator.plugin import hookimpl\n\n\n@hookimpl\ndef negotiator_job_attributes():\n    return ['Owner']\n",
    )
    (bare.path / "plugins").chmod(0o755)
    bare.write("pool.yaml", "")
    assert load_bundle(bare.path, entry_points=False).hooks.plugins == ()
    bare.write("pool.yaml", "plugins: {folders: [plugins], slow_seconds: 2, max_failures: 5}\n")
    loaded = load_bundle(bare.path, entry_points=False)
    assert [plugin.name for plugin in loaded.hooks.plugins] == ["mine"]
    assert "owner" in loaded.job_attributes
    assert (loaded.plugins.slow_seconds, loaded.plugins.max_failures) == (2.0, 5)
    assert load_bundle(bare.path, entry_points=False, disable=["mine"]).hooks.plugins == ()


def test_keys_of_a_disabled_plugin_are_unknown(bundle):
    """A policy without its plugin must not be ignored silently."""
    (problem,) = bundle.yaml("plugins: {disable: [tiny]}\nnumber: 3\n")
    assert problem.startswith("pool.yaml:2:1: error: unknown key 'number'")


def test_every_call_of_a_hook_can_be_traced(bundle):
    """The tracer covers the hooks that are called at loading."""
    lines = []
    bundle.write("pool.yaml", "")
    bundle.load(tracer=lines.append)
    assert "negotiator_section" in lines[0]


def test_problems_of_plugins_do_not_hide_others(bundle):
    """Except unknown keys, which may belong to a plugin that could not be loaded."""
    bundle.write(
        "pool.yaml",
        "plugins:\n  folders: [nowhere]\nnumber: many\naudit:\n  matches: MY.a ==\nno_such_key: 1\n",
    )
    messages = {str(problem).partition(" (")[0] for problem in bundle.check()}
    assert messages == {
        "pool.yaml:2:13: error: plugins.folders[0]: no folder 'nowhere'",
        "pool.yaml:3:9: error: number: expected a whole number, got 'many'",
        "pool.yaml:5:19: error: audit.matches: expected an operand, found end of text",
    }


def test_disabled_plugins_are_not_imported_if_other_plugin_settings_are_invalid(bundle):
    """No plugin is imported if the list of disabled ones is invalid."""
    bundle.plugin("loud", "raise SystemExit('imported')")
    for disable in ("[loud]", "{loud: 1}"):
        bundle.write("pool.yaml", f"plugins:\n  slow_seconds: soon\n  disable: {disable}\n")
        assert "imported" not in "".join(str(problem) for problem in bundle.check())
