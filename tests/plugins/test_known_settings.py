"""The settings of HTCondor's negotiator: each is read by a plugin, or explained."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from negotiator.bundle import check_bundle
from negotiator.bundle.load import examine_bundle
from negotiator.bundle.no_effect import KnownSettings, is_default
from negotiator.bundle.sections import lay_out
from negotiator.records import Severity
from negotiator_condor.known_settings import KNOWN


@pytest.fixture
def problems(tmp_path):
    """Return a function that checks a configuration file with all installed plugins."""

    def checked(text, order="submitters"):
        (tmp_path / "pool.yaml").write_text(f"order: {order}\n")
        (tmp_path / "a.conf").write_text(text)
        return [str(problem) for problem in check_bundle(tmp_path)]

    return checked


def test_a_setting_is_read_by_the_named_plugin_or_has_a_reason(tmp_path):
    """No setting is described as ignored that a plugin reads, nor the other way round."""
    owners = lay_out(examine_bundle(tmp_path).hooks).owners
    for setting in KNOWN:
        name = setting.name.replace("*", "x")
        key = owners.named(name)
        owner = owners.keys[key] if key else owners.of_pattern(name)
        assert owner == setting.plugin, setting.name


def test_the_defaults_of_the_plugins_are_those_of_htcondor(problems):
    """A file with the default of each setting has nothing to report."""
    texts = {each.name: each.default for each in KNOWN if not each.is_pattern}
    lines = [f"{name} = {value}\n" for name, value in texts.items() if value]
    (summary,) = problems("".join(lines))
    assert ": notice: " in summary
    assert "of its negotiator, with their defaults)" in summary


def test_the_defaults_are_those_of_htcondors_library():
    """Checked if the library is installed, with an empty configuration; names that it has no default for are left out."""
    pytest.importorskip("htcondor2", reason="HTCondor's own library is not installed")
    ask = "import htcondor2 as h, json; print(json.dumps(dict(h.param)))"
    done = subprocess.run(
        [sys.executable, "-c", ask],
        env={**os.environ, "CONDOR_CONFIG": "/dev/null"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    theirs = {name.lower(): str(value) for name, value in json.loads(done.stdout).items()}
    compared = 0
    for setting in KNOWN:
        value = theirs.get(setting.name.lower())
        if value and "$(" not in setting.default:
            compared += 1
            assert is_default(setting, value), setting.name
    assert compared > 40
    known = KnownSettings(KNOWN)
    for name in theirs:  # none of HTCondor's own names looks like a misspelled one
        assert known.find(name) or not known.nearest(name), name


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("STARTD_AD_REEVAL_EXPR = true", Severity.WARNING),
        ("NEGOTIATOR_FOO = 1", Severity.WARNING),
        ("NEGOTIATOR_CONSIDER_PREEMTION = false", Severity.WARNING),
        ("GROUP_NAME = a", Severity.WARNING),
        ("NEGOTIATOR_TIMEOUT = 5", Severity.NOTICE),
        ("NEGOTIATOR_D_FULLDEBUG_LOG = /x", Severity.NOTICE),
        ("SCHEDD_INTERVAL = 5", Severity.NOTICE),
    ],
)
def test_a_setting_that_would_decide_is_a_warning_and_one_of_the_daemon_a_notice(problems, line, severity):
    (problem,) = problems(line)
    assert problem.startswith(f"a.conf:1:1: {severity}: ")


@pytest.mark.parametrize(
    ("name", "intended"),
    [
        ("GROUP_ACCEPT_SURPLUSatlas", "GROUP_ACCEPT_SURPLUS_atlas"),
        ("GROUP_ACCEPTS_SURPLUS_cms", "GROUP_ACCEPT_SURPLUS_cms"),
        ("GROUP_SURPLUS_cms", "GROUP_ACCEPT_SURPLUS_cms"),
        ("ACCEPT_SURPLUS_cms", "GROUP_ACCEPT_SURPLUS_cms"),
        ("GROUP_SURPLUS", "GROUP_ACCEPT_SURPLUS"),
        ("GROUP_AUTO_REGROUP_cms", "GROUP_AUTOREGROUP_cms"),
        ("GROUP_PRIO_FACTORcms", "GROUP_PRIO_FACTOR_cms"),
        ("GROUP_PRIORITY_FACTOR_cms", "GROUP_PRIO_FACTOR_cms"),
        ("GROUP_PRIO_FACTOR", "GROUP_PRIO_FACTOR_*"),
        ("GROUP_QUOTAatlas", "GROUP_QUOTA_atlas"),
        ("group_qouta_atlas", "GROUP_QUOTA_atlas"),
        ("atlas_GROUP_QUOTA", "GROUP_QUOTA_atlas"),
        ("GROUP_QUOTA_DYNAMICatlas", "GROUP_QUOTA_DYNAMIC_atlas"),
        ("GROUP_QUOTA_DYNAMC_atlas", "GROUP_QUOTA_DYNAMIC_atlas"),
        ("MATLAB_LIMITS", "MATLAB_LIMIT"),
        ("LIMIT_MATLAB", "MATLAB_LIMIT"),
        ("sw_LIMT", "sw_LIMIT"),
        ("CONCURRENCY_LIMIT_DEFAULTLARGE", "CONCURRENCY_LIMIT_DEFAULT_LARGE"),
        ("CONCURRENCY_LIMIT_sw", "CONCURRENCY_LIMIT_DEFAULT_sw"),
        ("NEGOTIATOR.GROUP_QUOTAS_atlas", "GROUP_QUOTA_atlas"),
    ],
)
def test_a_misspelled_name_of_a_family_is_named_with_the_nearest(problems, name, intended):
    (problem,) = problems(f"GROUP_NAMES = atlas\nGROUP_QUOTA_atlas = 1\n{name} = 5")
    assert ": warning: " in problem
    assert problem.endswith(f"(did you mean {intended}?)")


@pytest.mark.parametrize("name", ["SlotWeight", "My_Groups", "GroupQuota_x", "FOO_BAR", "GROUP_QUOTA_atlas2"])
def test_a_name_of_its_own_is_not_taken_for_a_setting(problems, name):
    (problem,) = problems(f"GROUP_NAMES = atlas\nGROUP_QUOTA_atlas = 1\n{name} = 5")
    assert "did you mean" not in problem


@pytest.mark.parametrize(
    "name",
    [
        *("SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION", "SPOOL", "STARTD_JOB_ATTRS", "STARTD_JOB_EXPRS"),
        "SYSTEM_STARTD_JOB_ATTRS",
    ],
)
def test_a_setting_of_other_daemons_that_condor_negotiator_reads_is_explained(problems, name):
    (problem,) = problems(f"{name} = x")
    assert problem.startswith(f"a.conf:1:1: notice: {name} has no effect here: ")


def test_settings_that_plugins_read_are_not_reported(problems):
    text = "GROUP_NAMES = a\nGROUP_QUOTA_a = 3\nPRIORITY_HALFLIFE = 3600\nMATLAB_LIMIT = 5\nSLOT_WEIGHT = Memory\n"
    assert problems(text) == []


def test_every_setting_is_documented_with_its_reason():
    """``docs/condor-settings.md`` has one row for each, in the table of its kind."""
    text = (Path(__file__).parents[2] / "docs" / "condor-settings.md").read_text()
    _, read, deciding, daemon = text.split("\n## ")
    for setting in KNOWN:
        table = read if setting.plugin else deciding if setting.decides else daemon
        rows = re.findall(rf"^\| `{re.escape(setting.name)}` \|.*$", table, re.MULTILINE)
        assert len(rows) == 1, setting.name
        assert setting.reason in rows[0]
        assert not setting.default or f"`{setting.default}`" in rows[0]
