"""``plugins: only:`` keeps out what else is installed; what the bundle itself names is loaded all the same."""

import pytest

from negotiator.bundle.load import examine_bundle

PLUGIN = "from negotiator.plugin import hookimpl\n@hookimpl\ndef negotiator_job_attributes(): return []\n"


def examined(folder, plugins):
    (folder / "plugins").mkdir(mode=0o755)
    (folder / "plugins" / "own.py").write_text(PLUGIN)
    (folder / "pool.yaml").write_text(f"plugins:\n  folders: [plugins]\n  {plugins}\n")
    return examine_bundle(folder)


@pytest.mark.parametrize("only", [["placement", "access"], ["own"], []])
def test_of_the_installed_plugins_those_alone_are_loaded(tmp_path, only):
    found = examined(tmp_path, f"only: [{', '.join(only)}]")
    assert {each.name for each in found.hooks.plugins} == {*only, "own"}
    assert not [each for each in found.problems if each.source.file.startswith("plugins")]


def test_without_the_key_all_are_loaded(tmp_path):
    assert {"placement", "condor", "own"} <= {each.name for each in examined(tmp_path, "").hooks.plugins}


def test_an_unknown_name_is_a_warning_with_its_place(tmp_path):
    (problem,) = [
        each for each in examined(tmp_path, "only: [placment]").problems if "placment" in each.message
    ]
    assert (str(problem.severity), problem.message) == ("warning", "unknown plugin placment")
    assert (problem.source.file, problem.source.line) == ("pool.yaml", 3)
    assert "did you mean placement?" in problem.hint


def test_what_is_kept_out_may_be_disabled_too(tmp_path):
    found = examined(tmp_path, "only: [placement]\n  disable: [condor]")
    assert not [each for each in found.problems if "unknown" in each.message]
