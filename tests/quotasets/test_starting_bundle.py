"""The bundle to start from with Grid Engine's resource quota sets."""

from pathlib import Path

import pytest

from negotiator_quotasets.starting_bundle.objects import QuotaNames
from new_bundles import files, made_of, run

QUOTAS = """\
{
   name         per_host
   description  "users @nobody to slots=1 is a text"
   enabled      TRUE
   limit        name lab users !@staff hosts @lab to slots=0
   limit        users {roland} projects p1 \\
                queues all.q to compiler_lic=3,h_rt=1:00:00
}
"""
COMPLEXES = """\
#name               shortcut   type        relop requestable consumable default  urgency
#----------------------------------------------------------------------------------------
arch                a          RESTRING    ==    YES         NO         NONE     0
compiler_lic        cl         INT         <=    YES         YES        0        0
"""
USERSET = "name    staff\ntype    ACL\nfshare  0\noticket 0\nentries roland,andre,@unixstaff\n"
HOSTGROUP = "group_name @lab\nhostlist lab1 lab2 \\\n         lab3\n"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_own_quota_sets_have_the_objects_that_they_name():
    """Members that no file has are to be filled in, and complexes are guessed, with a remark."""
    read = made_of(quotas=QUOTAS)
    assert read("quotas.rqs") == QUOTAS
    objects = read("gridengine.yaml")
    assert "staff: []  # nobody yet: write the members that qconf -su staff prints" in objects
    assert "'@lab': []" in objects
    assert "A guess, as the quota sets limit compiler_lic" in objects
    assert "h_rt" not in objects.partition("complexes:")[2]


def test_own_quota_sets_with_what_qconf_prints_are_enforced():
    read = made_of(quotas=QUOTAS, complexes=COMPLEXES, staff=USERSET, lab=HOSTGROUP)
    objects = read("gridengine.yaml")
    assert "staff: [roland, andre, '@unixstaff']" in objects
    assert "'@lab': [lab1, lab2, lab3]" in objects
    assert "shortcut: cl" in objects
    assert "A guess" not in objects
    test = read("site_test.yaml")
    assert 'Requirements: TARGET.Machine == "lab1"' in test
    assert "{job: 2.0, verdict: denied, rule: per_host/lab}" in test
    assert "{job: 3.0, verdict: denied, rule: per_host/2}" in test
    assert "Queue: root.all.q, RequestCompiler_lic: 4" in test


def test_objects_alone_stand_beside_the_example_of_a_set():
    """What the example names and no file has is to be filled in."""
    read = made_of(complexes=COMPLEXES, lab=HOSTGROUP)
    assert "the sets in quotas.rqs" in read("pool.yaml")
    assert "limit        users @staff to compiler_lic=3" in read("quotas.rqs")
    assert "staff: []" in read("gridengine.yaml")


def test_a_file_of_something_else_is_refused():
    code, output = run("init", "site", "--from", "gridengine", *files(own="A = 1\n"))
    assert (code, "own: neither resource quota sets (qconf -srqs)" in output) == (2, True)
    assert not Path("site").exists()


def test_names_with_wildcards_and_in_descriptions_are_no_objects():
    names = QuotaNames.of(QUOTAS + "limit users {u*,@a?} hosts * to slots=1\n")
    assert (names.users, names.usersets, names.hostgroups) == (("roland",), ("staff",), ("lab",))
    assert (names.projects, names.queues) == (("p1",), ("all.q",))
    assert names.complexes == ("slots", "compiler_lic", "h_rt")
