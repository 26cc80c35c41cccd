"""Files at the top of a bundle that a plugin reads: read once, digested, checked, and reported with places."""

import os

import pytest

from negotiator.bundle import examine_bundle

RULES = """
from collections.abc import Mapping

@attrs.frozen
class Rules:
    files: Mapping[str, str]
    limit: int = 3


def check(settings):
    for name, text in settings.files.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if "nonsense" in line:
                source = Source(name, number, line.index("nonsense") + 1)
                yield Problem(Severity.ERROR, source, "this is no rule", "write one")


@hookimpl
def negotiator_section():
    return Section(schema=Rules, files=("*.rules", "site.yaml"), check=check)
"""
BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


@pytest.fixture
def ruled(bare):
    """Return a bundle with a plugin that reads ``*.rules`` and ``site.yaml``."""
    bare.plugin("ruler", RULES)
    bare.write("pool.yaml", "")
    return bare


def examine(folder, **options):
    return examine_bundle(folder.path, extra_folders=[folder.plugins], entry_points=False, **options)


def test_a_plugin_is_given_the_texts_of_its_files_by_name(ruled):
    """They are sorted; hidden files, backups and files in folders are not among them."""
    for name in (
        "z.rules",
        "a.rules",
        "site.yaml",
        "A.RULES",
        ".b.rules",
        "b.rules~",
        "sub/c.rules",
        "x.txt",
    ):
        ruled.write(name, f"text of {name}")
    files = ruled.settings("ruler").files
    assert list(files) == ["a.rules", "site.yaml", "z.rules"]
    assert files["a.rules"] == "text of a.rules"
    assert ruled.problems() == []


def test_without_files_the_plugin_is_given_none(ruled):
    """The other keys of its class are filled as usual."""
    ruled.write("pool.yaml", "limit: 5")
    settings = ruled.settings("ruler")
    assert (dict(settings.files), settings.limit) == ({}, 5)


def test_the_texts_of_a_plugins_files_cannot_be_changed(ruled):
    ruled.write("a.rules", "x")
    with pytest.raises(TypeError):
        ruled.settings("ruler").files["a.rules"] = "y"


def test_a_file_is_decoded_and_nothing_else(ruled):
    """The byte order mark is removed, line ends stay."""
    ruled.write("a.rules", f"{BOM}größer\r\nzwei\r")
    assert ruled.settings("ruler").files["a.rules"] == "größer\r\nzwei\r"


def test_a_problem_reported_by_the_plugin_has_its_line(ruled):
    ruled.write("a.rules", "good\nmore nonsense here\n")
    (problem,) = ruled.check()
    assert str(problem) == "a.rules:2:6: error: this is no rule (write one)"
    assert problem.excerpt == "more nonsense here"


def test_new_contents_are_checked_in_place_of_the_current_ones(ruled):
    """Also of a file that does not exist yet, and of one that is to be removed."""
    ruled.write("a.rules", "nonsense")
    ruled.write("b.rules", "unchanged")
    found = examine(ruled, replaced={"a.rules": b"fine", "c.rules": b"new"})
    assert dict(found.bundle.settings["ruler"].files) == {
        "a.rules": "fine",
        "b.rules": "unchanged",
        "c.rules": "new",
    }
    gone = examine(ruled, replaced={"a.rules": None})
    assert list(gone.bundle.settings["ruler"].files) == ["b.rules"]
    (ruled.path / "a.rules").unlink()
    assert examine(ruled).digest == gone.digest


def test_a_change_of_a_plugins_file_changes_the_digest(ruled):
    before = ruled.load().digest
    ruled.write("a.rules", "one")
    assert ruled.load().digest != before


def test_bytes_that_are_not_text_are_reported_and_the_plugin_does_not_check(ruled):
    """Its check would miss the content, so none of the plugin's files is checked."""
    ruled.write("a.rules", b"good\nb\xe4d\n")
    ruled.write("b.rules", "nonsense")
    assert ruled.problems() == ["a.rules:2:2: error: byte 0xE4 is not UTF-8 (save the file as UTF-8)"]


def test_a_path_that_is_not_a_regular_file_is_reported(ruled):
    """It is not opened either, since a pipe would block."""
    os.mkfifo(ruled.path / "a.rules")
    os.mkfifo(ruled.path / "a.txt")
    assert ruled.problems() == ["a.rules: error: this is not a file"]


def test_files_that_no_plugin_reads_are_warned_of(ruled):
    """``queue.yaml`` resembles a misspelled name, unless a plugin reads it."""
    ruled.write("queue.yaml", "x")
    (problem,) = ruled.problems()
    assert problem.startswith("queue.yaml: warning: this file is not read as settings")
    ruled.plugin("ruler", RULES.replace("site.yaml", "queue.yaml"))
    assert (ruled.problems(), list(ruled.settings("ruler").files)) == ([], ["queue.yaml"])


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("a.rules", True),
        ("site.yaml", True),
        ("pool.yaml", True),
        ("a.conf", True),
        ("a.Rules", False),
        ("sub/a.rules", False),
        ("x.txt", False),
    ],
)
def test_names_of_settings_files_are_known_before_the_files_exist(ruled, name, read):
    assert examine(ruled).reads(name) is read


def test_two_plugins_may_not_own_the_same_pattern(ruled):
    ruled.plugin("second", RULES.replace("limit", "other").replace('"site.yaml"', '"more.yaml"'))
    (problem,) = ruled.problems()
    assert problem == (
        f"{ruled.plugins}/second.py: error: the files '*.rules' of plugin second already belong to plugin ruler "
        "(disable one of the two plugins)"
    )


def test_two_plugins_may_not_read_the_same_file(ruled):
    """Patterns may overlap as long as no file matches both."""
    ruled.plugin("second", RULES.replace("limit", "other").replace('"*.rules", "site.yaml"', '"site.*",'))
    assert ruled.problems() == []
    ruled.write("site.yaml", "x")
    (problem,) = ruled.problems()
    assert problem == (
        "site.yaml: error: this file belongs to plugin ruler (site.yaml) and to plugin second (site.*) "
        "(rename the file, or disable a plugin)"
    )


@pytest.mark.parametrize("pattern", ["*", "pool.yaml", "q*.yaml", "*.conf", "condor_config.local"])
def test_a_plugin_may_not_own_files_of_the_core(ruled, pattern):
    ruled.plugin("ruler", RULES.replace("*.rules", pattern))
    assert f"the files {pattern!r} of plugin ruler already belong to the core" in ruled.problems()[0]


def test_a_pattern_that_matches_a_file_of_the_core_is_reported_for_that_file(ruled):
    ruled.plugin("ruler", RULES.replace("*.rules", "a.*"))
    ruled.write("a.conf", "")
    assert ruled.problems() == [
        "a.conf: error: this file belongs to the core and to plugin ruler (a.*) (rename the file, or disable a plugin)"
    ]


@pytest.mark.parametrize("files", ['["*.rules"]', '("",)', '("a/b",)', '(".x",)', '("x~",)', "(7,)", '"*.r"'])
def test_anything_but_a_tuple_of_patterns_is_refused(ruled, files):
    ruled.plugin("ruler", RULES.replace('("*.rules", "site.yaml")', files))
    (problem,) = ruled.problems()
    assert "negotiator_section" in problem
    assert "of a Section" in problem


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    files: Mapping[str, str]\n", "", "Rules needs a field `files: Mapping[str, str]`"),
        ("files: Mapping[str, str]", "files: Mapping[str, int]", "a type that settings can't have"),
        ("limit: int = 3", "part: Part | None = None", "Part.files: only the class of the section itself"),
        (', files=("*.rules", "site.yaml")', "", "but its section names no files"),
    ],
)
def test_a_class_without_a_valid_field_for_files_is_reported_to_its_author(ruled, old, new, message):
    part = "\n@attrs.frozen\nclass Part:\n    files: Mapping[str, str]\n"
    text = RULES.replace("import Mapping\n", "import Mapping\n" + (part if "Part" in new else ""))
    ruled.plugin("ruler", text.replace(old, new))
    (problem,) = ruled.problems()
    assert message in problem


def test_a_file_of_a_disabled_plugin_is_not_checked(ruled):
    """It stays in the digest, and there is no problem about it."""
    ruled.write("a.rules", "nonsense")
    found = examine(ruled, disable=["ruler"])
    assert (found.problems, found.reads("a.rules")) == ((), False)
