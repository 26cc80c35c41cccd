"""The pool's own configuration decides over the HTCondor-style files of a bundle, and ``pool.yaml`` over it."""

import json

import pytest

from negotiator.bundle.load import examine_bundle
from negotiator.bundle.pool_configuration import POOL_FILE, AskPool, store_configuration, stored_configuration
from negotiator.bundle.text import SourceText
from negotiator.hooks.declarations import Section
from negotiator.records import Severity, Source

PLUGIN = """
import json
from collections.abc import Mapping
from pathlib import Path

import attrs

from negotiator.plugin import PoolError, PoolSetting, PoolSource, ScalarText, Section, Source, hookimpl

@attrs.frozen
class Box:
    knobs: Mapping[str, ScalarText] = attrs.field(factory=dict)

def configuration(folder, checks):
    text = (folder.parent / "configuration.json").read_text()
    if not text:
        raise PoolError("the tool failed: line 7")
    return [PoolSetting(name, value, Source(file, line), file == "<Default>")
            for name, value, file, line in json.loads(text)[1 if checks else 0]]

@hookimpl
def negotiator_section():
    return Section(schema=Box, pool_knobs=("BOX_*",))

@hookimpl
def negotiator_pool_sources():
    yield PoolSource(name="box", open=print, configuration=configuration)
"""
DUMP = "# Configuration from machine: cm.example.org\n"
YAML = "source: box\nplugins: {folders: [plugins]}\norder: submitters\n"


class Site:
    """A bundle, and the configuration of its pool."""

    def __init__(self, path):
        self.folder, self.file = path / "bundle", path / "configuration.json"
        (self.folder / "plugins").mkdir(parents=True, mode=0o755)
        (self.folder / "plugins" / "box.py").write_text(PLUGIN)
        self.write()

    def write(self, more="", **files):
        (self.folder / "pool.yaml").write_text(YAML + more)
        for name, text in files.items():
            (self.folder / name.replace("__", ".")).write_text(text)

    def pool(self, *settings):
        """Set the pool's settings: name and value, and the line of /etc/c."""
        self.file.write_text(
            json.dumps(
                [
                    [
                        (*each, "/etc/c", 10 + n) if len(each) == 2 else each
                        for n, each in enumerate(settings)
                    ],
                    [],
                ]
            )
        )

    def load(self, ask=AskPool.SERVE, **more):
        return examine_bundle(self.folder, ask_pool=ask, **more)


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def interval(check):
    """Return the interval of the bundle of a check."""
    assert check.bundle is not None, check.problems
    return check.bundle.cycle_intervals.interval


def warnings(check):
    return [(str(each.source), each.message) for each in check.problems if each.severity is Severity.WARNING]


def test_settings_of_the_pool_are_those_of_the_bundle(site):
    site.pool(("NEGOTIATOR_INTERVAL", "7"), ("GROUP_NAMES", "a"), ("GROUP_QUOTA_a", "3"), ("LIC_LIMIT", "2"))
    check = site.load()
    assert interval(check) == 7
    assert check.bundle.settings["condor"].knobs["LIC_LIMIT"].text == "2"
    assert warnings(check) == []


def test_the_pool_is_asked_only_for_a_bundle_that_serves_or_is_checked(site):
    site.pool(("NEGOTIATOR_INTERVAL", "7"))
    assert interval(site.load(AskPool.NO)) == 60
    assert interval(site.load(AskPool.CHECK)) == 60


def test_macros_have_been_replaced_and_what_looks_like_one_is_text(site):
    site.pool(("NEGOTIATOR_PRE_JOB_RANK", 'strcat("$(X)", "$$")=="a"'))
    assert (
        site.load().bundle.settings["fairshare"].NEGOTIATOR_PRE_JOB_RANK.text == 'strcat("$(X)", "$$")=="a"'
    )


def test_a_setting_of_several_lines_is_one(site):
    site.pool(("NEGOTIATOR_PRE_JOB_RANK", "Mips\n+ 1"))
    first = site.load()
    assert first.bundle.settings["fairshare"].NEGOTIATOR_PRE_JOB_RANK.text == "Mips\n+ 1"
    again = site.load(AskPool.NO, replaced={POOL_FILE: first.bundle.files[POOL_FILE]})
    assert again.bundle.settings["fairshare"].NEGOTIATOR_PRE_JOB_RANK.text == "Mips\n+ 1"


@pytest.mark.parametrize(
    ("file", "text", "hint"),
    [
        ("knobs__conf", DUMP + "NEGOTIATOR_INTERVAL = $(ONE)0\nONE = 1\n", "print the file again"),
        ("condor_config", "NEGOTIATOR_INTERVAL = 10\n", "remove it here"),
    ],
)
def test_the_pool_decides_over_the_files_of_the_bundle_and_the_difference_is_named(site, file, text, hint):
    site.write(**{file: text})
    site.pool(("NEGOTIATOR_INTERVAL", "7"))
    check = site.load()
    assert interval(check) == 7
    (problem,) = check.bundle.differences
    assert problem in check.problems
    assert problem.message == (
        "NEGOTIATOR_INTERVAL is 10 here, and 7 in the pool's configuration (/etc/c:10:23), which takes precedence"
    )
    assert problem.source.file == file.replace("__", ".")
    assert hint in problem.hint
    site.pool(("NEGOTIATOR_INTERVAL", "5 + 5"))
    assert site.load().bundle.differences == ()


def test_a_dump_has_no_settings_of_its_own_and_another_file_has(site):
    site.write(
        knobs__conf=DUMP + "NEGOTIATOR_INTERVAL = 10\nNEGOTIATOR_MIN_INTERVAL = 5\n",
        more__conf="NEGOTIATOR_CYCLE_DELAY = 3\n",
    )
    site.pool(("A_LIMIT", "1"))
    check = site.load()
    intervals = check.bundle.cycle_intervals
    assert (intervals.interval, intervals.minimum, intervals.delay) == (60, 5, 3)
    assert warnings(check) == [
        ("/etc/c:10:1", "A_LIMIT is 1 in the pool's configuration, and not set in knobs.conf"),
        ("knobs.conf:2:1", "NEGOTIATOR_INTERVAL is 10 here, and not set in the pool's configuration, which takes precedence"),
    ]  # fmt: skip


def test_a_default_that_depends_on_the_host_is_no_difference(site):
    site.write(knobs__conf=DUMP + "CPUS = 4\nDETECTED_LIMIT = $(CPUS)\nOTHER_LIMIT = 8\n")
    site.pool(("DETECTED_LIMIT", "16", "<Default>", 0), ("OTHER_LIMIT", "8", "<Default>", 0))
    check = site.load()
    assert check.bundle.differences == ()
    assert not check.bundle.settings["condor"].knobs


def test_pool_yaml_decides_over_the_pool_and_the_difference_is_named(site):
    site.write("NEGOTIATOR_INTERVAL: 5\nNEGOTIATOR_MIN_INTERVAL: 4\n")
    site.pool(("NEGOTIATOR_INTERVAL", "7"), ("NEGOTIATOR_MIN_INTERVAL", "4"))
    check = site.load()
    assert interval(check) == 5
    (problem,) = check.bundle.differences
    assert problem.message == (
        "NEGOTIATOR_INTERVAL is 5 here, and 7 in the pool's configuration (/etc/c:10:1), which has no effect"
    )
    assert problem.source == Source("pool.yaml", 4, 1)


@pytest.mark.parametrize("value", ["an hour", "0", "NEGOTIATOR_MIN_INTERVAL"])
def test_an_invalid_setting_of_the_pool_is_an_error_where_the_pool_has_it(site, value):
    site.pool(("LIC_LIMIT", "1"), ("NEGOTIATOR_INTERVAL", value))
    check = site.load()
    assert check.bundle is None
    (problem,) = (each for each in check.problems if each.severity is Severity.ERROR)
    assert (problem.source.file, problem.source.line) == ("/etc/c", 11)
    assert problem.excerpt == f"NEGOTIATOR_INTERVAL = {value}"


def test_a_configuration_that_cannot_be_read_is_an_error(site):
    site.file.write_text("")
    check = site.load()
    assert check.bundle is None
    assert [str(each) for each in check.problems] == [
        "the pool's configuration: error: the tool failed: line 7"
    ]


def test_a_setting_of_the_pool_without_effect_is_named(site):
    site.pool(("NEGOTIATOR_INTERVALL", "7"), ("SCHEDD_DEBUG", "D_ALL"))
    assert warnings(site.load()) == [("/etc/c:10:1", "NEGOTIATOR_INTERVALL has no effect here")]


def test_settings_that_only_the_pool_has_are_read_nowhere_else(site):
    site.write(more__conf="BOX_B = 2\n")
    site.pool(("box_a", "1"), ("BOX_C", "3", "<Default>", 0))
    knobs = site.load().bundle.settings["box"].knobs
    assert {name: value.text for name, value in knobs.items()} == {"BOX_A": "1", "BOX_C": "3"}


def test_the_digest_covers_what_the_bundle_reads_and_nothing_else(site):
    site.pool(("LIC_LIMIT", "2"), ("SCHEDD_DEBUG", "D_ALL"))
    first = site.load().bundle
    assert b"SCHEDD" not in first.files[POOL_FILE]
    site.pool(("LIC_LIMIT", "2"), ("SCHEDD_DEBUG", "D_NETWORK"))
    assert site.load().bundle.digest == first.digest
    site.pool(("LIC_LIMIT", "3"))
    assert site.load().bundle.digest != first.digest


def test_the_stored_files_of_a_bundle_decide_as_the_bundle(site):
    """So recorded cycles are replayed under the configuration that they had, whatever the pool's is now."""
    site.pool(
        ("NEGOTIATOR_INTERVAL", "7"),
        ("X_LIMIT", "1", "environment variable _CONDOR_X_LIMIT", 0),
        ("BOX_A", ""),
    )
    first = site.load().bundle
    (site.folder / POOL_FILE).write_bytes(first.files[POOL_FILE])
    site.pool(("NEGOTIATOR_INTERVAL", "8"))
    again = site.load(AskPool.NO).bundle
    assert (again.digest, again.cycle_intervals.interval) == (first.digest, 7)
    assert again.settings["condor"].knobs["X_LIMIT"].source.file == "environment variable _CONDOR_X_LIMIT"
    assert site.load().bundle.cycle_intervals.interval == 8


def test_the_configuration_is_kept_with_the_state_as_long_as_there_is_one(tmp_path):
    assert stored_configuration(tmp_path) == {}
    store_configuration(tmp_path, b"# a:1\nA = 1\n")
    assert stored_configuration(tmp_path) == {POOL_FILE: b"# a:1\nA = 1\n"}
    store_configuration(tmp_path, None)
    assert stored_configuration(tmp_path) == {}


def test_a_file_of_another_form_sets_nothing(site):
    (site.folder / POOL_FILE).write_text(
        "nonsense\n# /etc/c:1\nNEGOTIATOR_INTERVAL 5\nA @=end\nnever ended\n"
    )
    assert interval(site.load(AskPool.NO)) == 60


def test_a_class_for_such_settings_needs_its_field(site):
    assert Section(schema=SourceText, pool_knobs=("BOX_*",)).pool_knobs == ("BOX_*",)
    plugin = PLUGIN.replace(
        "    knobs: Mapping[str, ScalarText] = attrs.field(factory=dict)", "    key: str = ''"
    )
    (site.folder / "plugins" / "box.py").write_text(plugin)
    site.pool()
    assert any(
        "needs a field `knobs: Mapping[str, ScalarText]`" in str(each) for each in site.load().problems
    )
