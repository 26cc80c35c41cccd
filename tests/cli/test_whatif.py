"""``negotiator whatif``: what a cycle would decide if the pool, the priorities or the bundle were changed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fair_share import submitter
from negotiator.app.whatif import read_scenario
from negotiator.cli import main
from pools import NOW, job, slot, write_ads, write_bundle

BUNDLE = (
    "order: submitters\npolicies:\n  - {name: large, applies_to: match, expression: TARGET.Memory > 5000}\n"
)


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """Return a folder with a bundle, a pool whose one large slot is wanted by two users, and a recorded cycle."""
    write_bundle(tmp_path / "bundle", BUNDLE)
    slots = [slot(0, Memory="4000"), slot(1, Memory="9000")]
    jobs = [
        job(n, Owner=f'"{user}"', User=f'"{user}@d"', GlobalJobId=f'"h#1.{n}#1"')
        for n, user in enumerate(("ann", "ann", "bob", "bob"))
    ]
    folder = tmp_path / "pool"
    folder.mkdir()
    write_ads(folder / "slots.ads", *slots)
    write_ads(folder / "jobs.ads", *jobs)
    write_ads(
        folder / "submitters.ads",
        submitter("ann", MyType='"Submitter"'),
        submitter("bob", MyType='"Submitter"'),
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEGOTIATOR_CONFIG", "")
    ask("run", "--bundle", "bundle", "--no-audit", "--record", "rec", "--now", str(NOW), "pool")
    return tmp_path


def ask(*words):
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def changes(*words, base=("--pool", "pool", "--bundle", "bundle", "--now", NOW)):
    """Return the changes of jobs by user."""
    done = ask("whatif", *base, *words, "--json")
    assert done.exit_code == 0, done.output
    return {
        user: {kind: count for kind, count in own.items() if count}
        for user, own in json.loads(done.output)["users"].items()
        if any(own.values())
    }


CASES = [
    (("--add-slots", "2", "s1@h"), {"ann": {"before": 1, "gained": 1}, "bob": {"gained": 1}}),
    (("--remove-slots", "Memory > 5000"), {"ann": {"before": 1, "lost": 1}}),
    (("--set-slots", "Memory < 5000", "Memory=Memory * 2"), {"ann": {"before": 1}, "bob": {"gained": 1}}),
    (("--remove-jobs", 'Owner == "ann"'), {"ann": {"before": 1, "lost": 1}, "bob": {"gained": 1}}),
    (
        ("--set-jobs", 'Owner == "ann"', "JobStatus=5"),
        {"ann": {"before": 1, "lost": 1}, "bob": {"gained": 1}},
    ),
    (("--factor", "ann@d=100000"), {"ann": {"before": 1, "lost": 1}, "bob": {"gained": 1}}),
    (("--file", "pool.yaml=other.yaml"), {"ann": {"before": 1}, "bob": {"gained": 1}}),
    (
        ("--setting", 'NEGOTIATOR_PE_JOB_ONLY_EXPR=MY.Owner == "ann"'),
        {"ann": {"before": 1, "lost": 1}, "bob": {"gained": 1}},
    ),
]


@pytest.mark.parametrize(("words", "expected"), CASES, ids=[words[0] for words, _ in CASES])
def test_a_change_of_a_pool_changes_these_matches(site, words, expected):
    (site / "other.yaml").write_text(BUNDLE.replace("5000", "1000"))
    found = changes(*words)
    for own in found.values():
        own.pop("moved", None)
        own.pop("reason", None)
    assert {user: own for user, own in found.items() if own} == expected


FILE = """
slots:
  - {add: 2, like: s0@h, set: {Memory: 6000}}
jobs:
  - {add: 3, like: 1.2, set: {Owner: sue, User: sue@d}}
  - {where: Owner == "bob", set: {Requirements: 'TARGET.Memory > 7000'}}
files: {pool.yaml: new.yaml}
"""


def test_a_file_has_many_changes_and_the_report_fits_a_screen(site):
    (site / "sub").mkdir()
    (site / "sub" / "changes.yaml").write_text(FILE)
    (site / "sub" / "new.yaml").write_text(BUNDLE.replace("5000", "3000"))
    done = ask("whatif", "--pool", "pool", "--bundle", "bundle", "--changes", "sub/changes.yaml", "--jobs")
    lines = done.output.splitlines()
    assert (done.exit_code, len(lines) <= 40) == (0, True), done.output
    assert lines[0].startswith("1 cycle: 1 match before, 4 after")
    assert lines[2].endswith(
        "2 more slots like s0@h; 3 more jobs like 1.2;"
        ' other Requirements of jobs with Owner == "bob"; another pool.yaml'
    )


def test_the_example_of_the_documentation_is_a_file_of_changes(site):
    text = (Path(__file__).parents[2] / "docs" / "what-if.md").read_text()
    (site / "example.yaml").write_text(text.partition("```yaml\n")[2].partition("```")[0])
    (site / "draft.yaml").write_text("partitions: []\n")
    found = read_scenario(site / "example.yaml")
    assert (len(found.pool.slots), len(found.pool.jobs), len(found.pool.factors)) == (2, 2, 1)
    assert found.bundle.files == (("queues.yaml", b"partitions: []\n"),)


def test_recorded_cycles_are_changed_under_their_own_bundles(site):
    base = "--recorded", "rec"
    assert changes("--add-slots", "1", "s1@h", base=base) == {"ann": {"before": 1}, "bob": {"gained": 1}}
    (site / "other.yaml").write_text(BUNDLE.replace("5000", "1000"))
    words = "whatif", *base, "--file", "pool.yaml=other.yaml", "--set-slots", "true", "Cpus=Cpus + 1"
    assert ask(*words, "--engine", "processes:2").output == ask(*words).output
    done = ask("whatif", *base, "--add-slots", "1", "s7@h")
    assert (done.exit_code, "no slot s7@h in the pool of 2 slots: did you mean" in done.stderr) == (1, True)


def test_finished_results_are_used_for_the_same_changes_only(site):
    """Other slots, another file or another setting are decided anew."""
    (site / "other.yaml").write_text(BUNDLE.replace("5000", "1000"))
    gate = 'NEGOTIATOR_PE_JOB_ONLY_EXPR=MY.Owner == "ann"'
    found = [
        changes(*words, "--resume", "done", base=("--recorded", "rec"))
        for words in (
            ("--add-slots", "1", "s1@h"),
            ("--remove-slots", "Memory > 5000"),
            ("--file", "pool.yaml=other.yaml"),
            ("--setting", gate),
        )
    ]
    assert [own["ann"].get("lost", 0) for own in found] == [0, 1, 0, 1]
    assert [own.get("bob", {}).get("gained", 0) for own in found] == [1, 0, 1, 1]
    assert len((site / "done").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 2, "nothing is changed"),
        (("--set-jobs", "true", "Memory"), 2, "'Memory' has no NAME=VALUE"),
        (("--set-jobs", "true &&", "Memory=1"), 1, "expression:1:8"),
        (("--factor", "ann@d=many"), 2, "'many' is not a number"),
        (("--factor", "ann@d=0"), 1, "priority factor of ann@d"),
        (("--remove-jobs", "Owner == 7"), 1, "no jobs of 4 with Owner == 7"),
        (("--file", "pool.yaml=missing"), 1, "missing: the file cannot be read"),
        (("--setting", "polices=7"), 1, "the changed settings:1:1"),
    ],
)
def test_wrong_changes_are_refused_with_the_reason(words, code, message):
    done = ask("whatif", "--pool", "pool", "--bundle", "bundle", *words)
    assert (done.exit_code, message in done.output) == (code, True), done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slots: [{add: 2}]", "wrong.yaml:1:9: error: add needs like"),
        ("slots: [{add: 0, like: a}]", "write a number from 1 to 1000000"),
        ("jobs: [{where: 'true'}]", "where needs set"),
        ("jobs: [{remove: 'true', set: {A: 1}}]", "remove and set exclude each other"),
        ("jobs: [{remove: 'true', where: 'true'}]", "one of the keys add, remove and where"),
        ("jobs: [{remove: 'a b'}]", "wrong.yaml:1:17: error: remove:"),
        ("job: []", "unknown key 'job'"),
    ],
)
def test_every_error_of_a_file_of_changes_has_its_place(site, text, message):
    (site / "wrong.yaml").write_text(text)
    done = ask("whatif", "--pool", "pool", "--bundle", "bundle", "--changes", "wrong.yaml")
    assert (done.exit_code, message in done.output) == (2, True), done.output
