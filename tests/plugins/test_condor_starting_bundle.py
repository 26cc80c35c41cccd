"""The bundle to start from with HTCondor's own settings."""

from pathlib import Path

import pytest

from new_bundles import files, made_of, run

CONDOR = "GROUP_NAMES = physics, \\\n  biology\nGROUP_QUOTA_physics = 1\nGROUP_QUOTA_biology = 0\n"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_own_settings_of_the_negotiator_are_enforced():
    read = made_of(condor_config=CONDOR)
    assert read("condor_config") == CONDOR
    assert "AccountingGroup: biology.alice" in read("site_test.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "# dumped\n\nA = 1\nGroup_Names = a\n",
        "use ROLE: Execute\n",
        "NEGOTIATOR_POST_JOB_RANK @=end\n1\n@end\n",
    ],
)
def test_configuration_is_recognized_by_a_setting_of_the_negotiator(text):
    run("init", "site", *files(knobs=text))
    assert Path("site", "knobs.conf").read_text() == text


def test_files_with_other_settings_are_not_taken_for_configuration():
    code, output = run("init", "site", *files(conf="PartitionName = physics\n"))
    assert (code, "conf: recognized by no starting bundle" in output) == (2, True)


def test_a_file_whose_name_a_bundle_does_not_read_gets_one():
    run("init", "site", "--from", "htcondor", *files(dump=CONDOR))
    assert Path("site", "dump.conf").read_text() == CONDOR


def test_two_files_of_one_name_are_refused():
    Path("sub").mkdir()
    code, output = run("init", "site", *files(**{"own": CONDOR, "sub/own": CONDOR}))
    assert (code, "sub/own: another file is called own.conf too" in output) == (2, True)
    assert not Path("site").exists()
