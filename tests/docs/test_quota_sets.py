"""The page about resource quota sets agrees with the program: its example is run, its files are read."""

import re
from pathlib import Path

import pytest

import pools
from negotiator.bundle import check_bundle, load_bundle

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "quota-sets.md").read_text(encoding="utf-8")
BUNDLE = ROOT / "policies" / "resource-quotas"
HEAD = "| user | project | requests | running | matched | reason |"


def rows(head):
    """Return the rows of the table with this header, without backticks."""
    lines = PAGE.split(head, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in lines]


def blocks(language):
    """Return the blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def job(number, user, project, licences, **more):
    """Return a job of a user that requests so many licences."""
    requested = {"RequestCompiler_lic": licences} if licences else {}
    if project:
        requested["Project"] = f'"{project}"'
    return pools.job(number, Owner=f'"{user}"', RequestCpus="1", RequestMemory="1", **requested, **more)


@pytest.mark.parametrize("row", rows(HEAD), ids=lambda row: " ".join(row[:4]))
def test_the_example_of_the_specification_gives_the_results_of_the_table(row):
    user, project, licences_requested, running, matched, because = row
    runs = re.findall(r"(\w+)(?: in (\w+))? (\d+)", running)
    slots = [pools.slot(number, Machine=f'"h{number}"', TotalCpus="64") for number in range(1 + len(runs))]
    jobs = [job(9, user, project, licences_requested)]
    for number, (owner, where, licences) in enumerate(runs):
        jobs.append(job(number, owner, where, licences, JobStatus="2", RemoteHost=f'"s{number}@h"'))
        slots[number] = pools.slot(number, Machine=f'"h{number}"', TotalCpus="64", State='"Claimed"')
    result = pools.cycle(pools.snapshot(slots, jobs), BUNDLE)
    assert bool(result.matches) is (matched == "yes")
    reasons = " ".join(text for _, _, text, _ in pools.denials(result))
    reason = because.partition(":")[0]
    assert matched == "yes" or f"cannot run because it {reason}" in reasons


def test_the_sets_of_the_page_are_those_of_the_example_bundle():
    shown = blocks("")[1]
    sets_text = (BUNDLE / "licences.rqs").read_text("utf-8")
    without = re.sub(r"^#.*\n|^   description .*\n", "", sets_text, flags=re.MULTILINE)
    assert without == shown


def test_the_declarations_of_the_page_have_no_problems(tmp_path):
    declared, modes = blocks("yaml")
    (tmp_path / "pool.yaml").write_text(modes)
    (tmp_path / "gridengine.yaml").write_text(declared)
    (tmp_path / "page.rqs").write_text(blocks("")[0] + blocks("")[1])
    assert [str(problem) for problem in check_bundle(tmp_path)] == []
    settings = load_bundle(tmp_path).settings["quotasets"]
    assert [each.name for each in settings.sets] == ["per_host", "ruleset1", "ruleset2"]
    assert str(settings.mode("per_host")) == "dryrun"
    assert settings.gridengine.hostgroups["@lab"] == ("lab1", "lab2", "@annex")
