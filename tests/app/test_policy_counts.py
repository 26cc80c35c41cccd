"""``check --pool``: for how many ads or pairs each policy is true, false or undefined."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.app.check import check_bundle
from negotiator.app.policy_counts import MAX_EVALUATED, policy_counts
from negotiator.classad import UNDEFINED, evaluate, parse
from negotiator.hooks.command_targets import CommandTargets
from pools import NOW, ad, job, slot, snapshot, write_bundle

MATCH = "NEGOTIATOR_PE_RESOURCE_EXPR"
EXPRESSIONS = (
    "MY.Memory >= TARGET.RequestMemory",
    "TARGET.Owner == MY.For",
    "MY.Memory",
    'TARGET.RequestMemory =?= 1024 || "x"',
    "MY.Memory - TARGET.RequestMemory",
    "MY.Indirect > 1",
)


def counts(tmp_path, pool, **conf):
    """Return the counts of a bundle with these settings, by their names."""
    text = "\n".join(f"{name} = {value}" for name, value in conf.items())
    bundle = write_bundle(tmp_path / "bundle", conf=text + "\nNEGOTIATOR_PE_ALLOW_UNSCOPED = true\n")
    return {each.rule: each for each in policy_counts(bundle, pool, NOW)}


def test_a_gate_counts_the_ads_of_its_kind_and_those_that_it_discards(tmp_path):
    """A gate of the specification discards where it is true, a constraint of HTCondor where it is not."""
    slots = [slot(n, Memory=str(512 * n)) for n in range(4)] + [slot(9, Memory=None)]
    gate, constraint = "MY.Memory < 1024", "MY.Memory > 0"
    found = counts(
        tmp_path,
        snapshot(slots, [job()]),
        NEGOTIATOR_PE_STARTD_ONLY_EXPR=gate,
        NEGOTIATOR_SLOT_CONSTRAINT=constraint,
    )
    assert [str(each) for each in found.values()] == [
        "NEGOTIATOR_PE_STARTD_ONLY_EXPR: 5 slots: true 2, false 2, undefined 1; discards 2",
        "NEGOTIATOR_SLOT_CONSTRAINT: 5 slots: true 3, false 1, undefined 1; discards 2",
    ]


def test_a_match_policy_counts_pairs(tmp_path):
    """Errors, and values that are no condition, are counted apart; also in a pool without jobs."""
    slots = [slot(n, Memory="1024", For='"tester"' if n else None) for n in range(3)]
    pool = snapshot(slots, [job(n) for n in range(4)])
    found = counts(tmp_path, pool, **{MATCH: "TARGET.Owner == MY.For"})
    assert str(found[MATCH]) == f"{MATCH}: 12 pairs of slot and job: true 8, false 0, undefined 4"
    found = counts(tmp_path / "2", pool, **{MATCH: 'ifThenElse(MY.For is undefined, "x", 0)'})
    assert str(found[MATCH]) == f"{MATCH}: 12 pairs of slot and job: true 0, false 8, undefined 0, error 4"
    found = counts(tmp_path / "3", snapshot(slots), **{MATCH: "TARGET.Owner == MY.For"})
    assert str(found[MATCH]) == f"{MATCH}: 0 pairs of slot and job: true 0, false 0, undefined 0"


def value_of(expression, mine, other):
    """Return the word for the value of one pair."""
    value = evaluate(expression, mine, other)
    if value is UNDEFINED:
        return "undefined"
    return ("true" if value else "false") if isinstance(value, bool | int | float) else "invalid"


numbers = st.lists(st.sampled_from(["512", "1024", "2048.5", "true", None, '"a"']), max_size=6)


@pytest.mark.parametrize("text", EXPRESSIONS)
@given(memories=numbers, requests=numbers)
def test_the_counts_are_those_of_all_pairs_one_by_one(tmp_path_factory, text, memories, requests):
    """Ads that an expression can't tell apart stand for each other, also through attributes that are expressions."""
    slots = [
        slot(n, Memory=each, For='"tester"', Indirect="MY.Memory / 512") for n, each in enumerate(memories)
    ]
    jobs = [job(n, RequestMemory=each) for n, each in enumerate(requests)]
    found = counts(tmp_path_factory.mktemp("b"), snapshot(slots, jobs), **{MATCH: text})[MATCH]
    expected = Counter(value_of(parse(text), mine, other) for mine, other in product(slots, jobs))
    assert {word: getattr(found, word) for word in ("true", "false", "undefined", "invalid")} == {
        word: expected[word] for word in ("true", "false", "undefined", "invalid")
    }
    assert found.counted == found.total == len(slots) * len(jobs)


def test_of_many_different_ads_on_both_sides_a_sample_is_counted(tmp_path):
    """The text names its size; with few different ads on one side all pairs are counted."""
    slots = [slot(n, Memory=str(n)) for n in range(200)]
    jobs = [job(n, RequestMemory=str(n)) for n in range(150)]
    found = counts(tmp_path, snapshot(slots, jobs), **{MATCH: "MY.Memory >= TARGET.RequestMemory"})[MATCH]
    assert (found.total, found.counted) == (30_000, MAX_EVALUATED * 200)
    assert f"30,000 pairs of slot and job (a sample of {found.counted:,}): true " in str(found)
    same = snapshot(slots, [job(n, RequestMemory="7") for n in range(150)])
    found = counts(tmp_path / "2", same, **{MATCH: "MY.Memory >= TARGET.RequestMemory"})[MATCH]
    assert (found.true, found.counted) == (193 * 150, 30_000)
    one = snapshot([slot(0, Memory="100")], jobs)
    found = counts(tmp_path / "3", one, **{MATCH: "MY.Memory >= TARGET.RequestMemory"})[MATCH]
    assert (found.true, found.counted) == (101, 150)


def test_with_a_pool_a_setting_without_a_value_is_a_warning(tmp_path):
    """A policy that was meant is missing; names that HTCondor leaves empty too are no warning."""
    conf = "NEGOTIATOR_PE_JOB_EXPR =\nEMPTY =\nNEGOTIATOR_PE_STARTD_ONLY_EXPR = $(EMPTY)\nNEGOTIATOR_SLOT_CONSTRAINT =\n"
    write_bundle(tmp_path / "bundle", conf=conf)
    targets = CommandTargets(bundle=tmp_path / "bundle")
    assert [str(each) for each in check_bundle(targets).problems] == []
    pool = snapshot([slot()], [job()], [ad(Name='"s"')])
    assert [str(each) for each in check_bundle(targets, pool).problems] == [
        f"central.conf:{line}:1: warning: {name} has no value: it sets no policy (write an expression, or remove the line)"
        for line, name in ((1, "NEGOTIATOR_PE_JOB_EXPR"), (3, "NEGOTIATOR_PE_STARTD_ONLY_EXPR"))
    ]
