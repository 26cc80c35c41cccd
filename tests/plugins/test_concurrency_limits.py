"""HTCondor's concurrency limits, as its manual has them, through whole cycles."""

import pytest

from pools import cycle, denials, job, matched, slot, snapshot, used, write_bundle

POOL = """
concurrency_limits: {Matlab: 3, large: 2, large.special: 1, none: 0}
CONCURRENCY_LIMIT_DEFAULT: 4
"""


@pytest.fixture
def decide(tmp_path):
    def decided(*texts, slots=None, **more):
        own = write_bundle(tmp_path / "b", POOL)
        slots = [slot(number) for number in range(9)] if slots is None else slots
        jobs = [job(number, ConcurrencyLimits=text, **more) for number, text in enumerate(texts)]
        return cycle(snapshot(slots, jobs), own)

    return decided


COUNTS = [
    ("a name takes one", ['"matlab"'] * 9, 3),
    ("names are equal whatever their case", ['"MATLAB"', '"matlab"', '"Matlab"', '"mAtlab"'], 3),
    ("a weight takes more", ['"matlab:2"'] * 9, 1),
    ("weights may be fractions, counted exactly", ['"matlab:0.3"'] * 12, 9),
    ("also of a thing that has the default", ['"other:0.8"'] * 9, 5),
    ("a thing that is named twice is taken twice", ['"matlab, matlab"'] * 9, 1),
    ("all things of a list are needed", ['"matlab other"', '"matlab,none"', '"matlab , other"'], 2),
    ("a group's limit is that of each of its own", ['"large.a"'] * 3 + ['"large.b"'] * 3, 4),
    ("of a group one may have its own", ['"large.special"'] * 3, 1),
    ("and the group's name is a thing by itself", ['"large"'] * 3 + ['"large.a"'] * 3, 4),
    ("what has no limit has the default", ['"odd_1"'] * 9, 4),
    ("a limit of nothing is for nobody", ['"none"'], 0),
    ("the least weight is no way around a limit", ['"none:0.00000001"'], 0),
    ("what is no string limits nothing", ["5", "undefined", "error"], 3),
    ("nor does an empty list", ['""', '" , "'], 2),
    ("an expression of the job's own", ['strcat("mat", MY.Rest)'] * 5, 3),
]


@pytest.mark.parametrize(("texts", "most"), [each[1:] for each in COUNTS], ids=[each[0] for each in COUNTS])
def test_what_is_taken(decide, texts, most):
    """As the names say."""
    assert len(decide(*texts, Rest='"lab"').matches) == most


INVALID = ["1x", "a-b", "a.b.c", ".a", "a.", "matlab:-1", "matlab:0", "matlab:x", "matlab:nan"]
INVALID += ["matlab:inf", "matlab:1_0", "matlab:1e300", "matlab:0x1", ":3", "b\u00e4r", "matlab:\u0661"]
INVALID += [",".join(f"name{number}" for number in range(101))]


@pytest.mark.parametrize("text", INVALID)
def test_an_entry_that_is_none_is_refused(decide, text):
    """Not passed over: a limit that is misspelt is none, and the others of a list would be taken for all."""
    result = decide(f'"{text}"', '"matlab"')
    assert [each for each, _ in matched(result)] == ["1.1"]
    reasons = [each.reason for outcome in result.outcomes for each in outcome.removals]
    (told,) = [reason for reason in reasons if reason.code == "concurrency_limit_invalid"]
    assert told.verdict == "misconfigured"
    assert "is no concurrency limit" in told.text


def test_an_expression_of_the_slot_may_differ_from_slot_to_slot(decide):
    """Each thing is charged where it is asked for, and the reason counts the slots that it took."""
    slots = [
        slot(number, Kind=f'"{kind}"') for number, kind in enumerate(["none", "matlab", "matlab", "free"])
    ]
    result = decide(*['ifThenElse(TARGET.Kind == "free", undefined, TARGET.Kind)'] * 4, slots=slots)
    assert sorted(where for _, where in matched(result)) == ["s1@h", "s2@h", "s3@h"]
    assert used(result)["condor.matlab"] == 2_000_000
    (removal,) = [each for each in result.outcomes[0].removals if each.reason.code == "concurrency_limit"]
    assert (removal.removed, removal.reason.numbers) == (1, {"needed": 1.0, "used": 0.0, "limit": 0.0})


def test_a_denial_says_the_numbers_as_people_write_them(decide):
    """And the line of the pool's configuration."""
    result = decide('"matlab:1.5"', '"matlab:1.5"', '"matlab:1.5"')
    ((code, verdict, text, numbers),) = denials(result)
    assert (code, verdict) == ("concurrency_limit", "waiting")
    assert text == "concurrency limit matlab: uses 3, needs 1.5, may have 3"
    assert numbers == {"needed": 1.5, "used": 3.0, "limit": 3.0}


def test_what_runs_takes_its_things_also_where_its_entries_are_wrong(decide):
    """A job that runs and says nonsense does not end the cycle, with or without slots."""
    assert decide('"1x"', JobStatus="2", slots=()).failures == ()
