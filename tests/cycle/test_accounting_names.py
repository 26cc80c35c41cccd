"""Accounting names: a job's AccountingGroup neither hides its owner nor borrows another user's name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pools
from negotiator.app.lint_accounting import lint_accounting
from negotiator.cycle.accounting_names import named_user
from negotiator.records import Severity
from pools import ad, job, matched, reasons, slot, snapshot

SCHEDD = {"GlobalJobId": '"s#1.0#1"'}
USERS = frozenset({"alice", "mallory", "john.doe"})
TRUST = "accounting:\n  trust_names: true\n"
CONSTRAINT = 'NEGOTIATOR_SUBMITTER_CONSTRAINT: MY.Name != "mallory@x"\n'


def owned(owner, group=None, number=0, **more):
    """Return a job of an owner, under an accounting group."""
    own = {"Owner": f'"{owner}"', "User": f'"{owner}@x"', "AccountingGroup": group and f'"{group}"'}
    return job(number, **(SCHEDD | own | more))


def submitter(name):
    """Return the ad of a submitter with idle jobs."""
    return ad(MyType='"Submitter"', Name=f'"{name}"', ScheddName='"s"', IdleJobs="1")


@pytest.fixture
def decide(tmp_path):
    count = iter(range(100))
    return lambda pool, text="": pools.cycle(pool, pools.write_bundle(tmp_path / str(next(count)), text))


@pytest.mark.parametrize("group", ["physics", "group_physics.mallory", "physics.mallory@x", "!"])
@pytest.mark.parametrize(
    "gate",
    [CONSTRAINT, 'NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.Name == "mallory@x"\n'],
)
def test_a_job_of_a_discarded_submitter_stays_out_whatever_group_it_names(decide, group, gate):
    """Also if the pool has no ad of the owner's own submitter name, or none of the group's."""
    name = f"{group}@x"
    jobs = [owned("mallory", group), owned("alice", "physics", 1, ClusterId="2")]
    for names in ([name], [name, "mallory@x"]):
        ads = [submitter(each) for each in dict.fromkeys([*names, "physics@x"])]
        result = decide(snapshot([slot(), slot(1)], jobs, submitters=ads), gate)
        assert [match.job for match in result.matches] == ["2.1"]
        assert "owner_discarded" in reasons(result)
        trusted = decide(snapshot([slot(), slot(1)], jobs, submitters=ads), gate + TRUST)
        assert len(trusted.matches) == 2


def test_the_owner_is_tested_with_the_other_attributes_of_the_submitter(decide):
    """A constraint on the number of idle jobs discards nobody for working under a group."""
    pool = snapshot([slot()], [owned("alice", "physics")], submitters=[submitter("physics@x")])
    assert matched(decide(pool, "NEGOTIATOR_SUBMITTER_CONSTRAINT: MY.IdleJobs > 0\n"))


@pytest.mark.parametrize(
    "name", ["alice@x", "alice", "group_physics.alice", "g.ALICE@x", "mallory@y", "new@x"]
)
def test_the_name_of_another_user_is_refused_unless_it_is_mapped(decide, name):
    """The record has the job: refused, or used by permission."""
    pool = snapshot([slot()], [owned("mallory", name), owned("alice", number=1, JobStatus="5")])
    refused = decide(pool)
    assert not matched(refused)
    assert "accounting_name_refused" in reasons(refused)
    for mapping in (f'mallory: ["{name}"]', '"mallory@x": ["*"]', f'"*": ["{name.upper()}"]'):
        mapped = decide(pool, f"accounting:\n  names:\n    {mapping}\n")
        assert len(matched(mapped)) == 1
        assert "accounting_name_mapped" in reasons(mapped)
    assert not matched(decide(pool, f'accounting:\n  names:\n    alice: ["{name}", "*"]\n'))
    trusted = decide(pool, TRUST)
    assert len(matched(trusted)) == 1
    assert "accounting_name_trusted" in reasons(trusted)


@pytest.mark.parametrize(
    "name", ["physics", "group_physics.prod", "group_physics.mallory", "mallory", "g.mallory@x"]
)
def test_groups_and_the_owners_own_names_are_free(decide, name):
    result = decide(snapshot([slot()], [owned("mallory", name), owned("alice", number=1, JobStatus="5")]))
    assert matched(result)
    assert not any(code.startswith("accounting") for code in reasons(result))


def test_the_name_of_a_group_does_not_change_whose_turn_it_is(decide):
    """In the order by names, owners take their turns by name; with HTCondor's trust it is the submitters."""
    pool = snapshot([slot()], [owned("mallory", "!"), owned("alice", number=1)])
    assert [match.job for match in decide(pool, "order: names\n").matches] == ["1.1"]
    assert [match.job for match in decide(pool, "order: names\n" + TRUST).matches] == ["1.0"]


def test_a_gate_that_fails_on_the_owners_discards_their_jobs(tmp_path):
    """The plugin's failure is reported, and the jobs under other names wait."""
    plugin = """
from negotiator.plugin import Gate, hookimpl

@hookimpl
def negotiator_gate_ads(kind, ads):
    if "mallory@x" in ads.strings("Name"):
        raise ValueError("odd")
    return []
"""
    bundle = pools.write_bundle(tmp_path / "b", plugins={"p": plugin})
    jobs = [owned("mallory", "physics"), owned("alice", number=1)]
    ads = [submitter("physics@x"), submitter("alice@x")]
    result = pools.cycle(snapshot([slot(), slot(1)], jobs, submitters=ads), bundle)
    assert [match.job for match in result.matches] == ["1.1"]
    assert [failure.message for failure in result.failures] == ["ValueError: odd"]


@pytest.mark.parametrize(
    ("name", "own", "user"),
    [
        ("john.doe", "alice@x", "john.doe"),
        ("g.john.doe", "john.doe@x", ""),
        ("g.sub.john.doe", "doe@x", "john.doe"),
        ("a@b@x", "alice@x", "a@b@x"),
        ("alice@x", "alice", ""),
        ("." * 100_000 + "alice", "mallory@x", "alice"),
    ],
)
def test_the_user_of_an_accounting_name_is_the_longest_known_ending(name, own, user):
    assert named_user(name, own, USERS) == user


@given(st.text("ab.@!", max_size=8), st.sampled_from(sorted(USERS)))
def test_no_name_that_ends_with_another_users_name_is_a_group(prefix, user):
    own = "zoe@x"
    for name in (user, f"{prefix}.{user}", f"{prefix}.{user}@x", f"{user}@{prefix}"):
        assert named_user(name, own, USERS)


def test_check_reports_who_uses_the_name_of_another_user(tmp_path):
    pool = snapshot([], [owned("mallory", "alice@x"), owned("mallory", "physics", 1)])
    expected = {"": Severity.WARNING, TRUST: Severity.NOTICE}
    for number, (text, severity) in enumerate(expected.items()):
        (problem,) = lint_accounting(pools.write_bundle(tmp_path / str(number), text), pool)
        assert problem.severity is severity
        assert "1 job of this pool, such as job 1.0 of mallory@x as alice@x" in problem.message
