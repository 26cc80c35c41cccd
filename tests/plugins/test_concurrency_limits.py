"""HTCondor's concurrency limits, as its manual defines them, through whole cycles."""

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
    ("a name uses one", ['"matlab"'] * 9, 3),
    ("names are equal whatever their case", ['"MATLAB"', '"matlab"', '"Matlab"', '"mAtlab"'], 3),
    ("a weight uses more", ['"matlab:2"'] * 9, 1),
    ("weights may be fractions, counted exactly", ['"matlab:0.3"'] * 12, 9),
    ("also for a name with the default limit", ['"other:0.8"'] * 9, 5),
    ("a name that is listed twice is used twice", ['"matlab, matlab"'] * 9, 1),
    ("all names of a list are needed", ['"matlab other"', '"matlab,none"', '"matlab , other"'], 2),
    ("the limit of a group is that of each of its members", ['"large.a"'] * 3 + ['"large.b"'] * 3, 4),
    ("a member of a group may have its own limit", ['"large.special"'] * 3, 1),
    ("the name of a group is also a name by itself", ['"large"'] * 3 + ['"large.a"'] * 3, 4),
    ("a name without a limit has the default", ['"odd_1"'] * 9, 4),
    ("a limit of 0 refuses everybody", ['"none"'], 0),
    ("a tiny weight is charged too", ['"none:0.00000001"'], 0),
    ("a value that is not a string uses nothing", ["5", "undefined", "error"], 3),
    ("an empty list uses nothing", ['""', '" , "'], 2),
    ("an expression of the job's own", ['strcat("mat", MY.Rest)'] * 5, 3),
]


@pytest.mark.parametrize(
    ("texts", "expected"), [each[1:] for each in COUNTS], ids=[each[0] for each in COUNTS]
)
def test_as_many_jobs_match_as_the_limits_allow(decide, texts, expected):
    """By the weights and names of their lists."""
    assert len(decide(*texts, Rest='"lab"').matches) == expected


INVALID = ["1x", "a-b", "a.b.c", ".a", "a.", "matlab:-1", "matlab:0", "matlab:x", "matlab:nan"]
INVALID += ["matlab:inf", "matlab:1_0", "matlab:1e300", "matlab:0x1", ":3", "b\u00e4r", "matlab:\u0661"]
INVALID += [",".join(f"name{number}" for number in range(101))]


@pytest.mark.parametrize("text", INVALID)
def test_an_invalid_item_is_refused(decide, text):
    """If it were skipped, the job would use a licence without a charge."""
    result = decide(f'"{text}"', '"matlab"')
    assert [each for each, _ in matched(result)] == ["1.1"]
    reasons = [each.reason for outcome in result.outcomes for each in outcome.removals]
    (found,) = [reason for reason in reasons if reason.code == "concurrency_limit_invalid"]
    assert found.verdict == "misconfigured"
    assert "invalid concurrency limit" in found.text


def test_an_expression_of_the_slot_may_differ_from_slot_to_slot(decide):
    """Each name is charged on the slots where it is requested, and the reason counts the slots that it removed."""
    slots = [
        slot(number, Kind=f'"{kind}"') for number, kind in enumerate(["none", "matlab", "matlab", "free"])
    ]
    result = decide(*['ifThenElse(TARGET.Kind == "free", undefined, TARGET.Kind)'] * 4, slots=slots)
    assert sorted(where for _, where in matched(result)) == ["s1@h", "s2@h", "s3@h"]
    assert used(result)["condor.matlab"] == 2_000_000
    (removal,) = [each for each in result.outcomes[0].removals if each.reason.code == "concurrency_limit"]
    assert (removal.removed, removal.reason.numbers) == (1, {"needed": 1.0, "used": 0.0, "limit": 0.0})


def test_a_denial_has_readable_numbers(decide):
    """Not in millionths."""
    result = decide('"matlab:1.5"', '"matlab:1.5"', '"matlab:1.5"')
    ((code, verdict, text, numbers),) = denials(result)
    assert (code, verdict) == ("concurrency_limit", "waiting")
    assert text == "concurrency limit matlab: uses 3, needs 1.5, may have 3"
    assert numbers == {"needed": 1.5, "used": 3.0, "limit": 3.0}


def test_a_running_job_with_an_invalid_list_is_no_failure(decide):
    """The cycle continues, also without slots."""
    assert decide('"1x"', JobStatus="2", slots=()).failures == ()


PLACES = """\
concurrency_limits:
  Matlab: 0
  large: 0
  large.special: 0
CONCURRENCY_LIMIT_DEFAULT: 0
"""


@pytest.mark.parametrize(
    ("name", "line"), [("MATLAB", 2), ("large", 3), ("large.a", 3), ("large.special", 4), ("other", 5)]
)
def test_a_denial_names_the_place_of_the_limit_that_applies(tmp_path, name, line):
    """Its own limit, else that of its group, else the default."""
    bundle = write_bundle(tmp_path / "b", PLACES)
    result = cycle(snapshot([slot()], [job(ConcurrencyLimits=f'"{name}"')]), bundle)
    (removal,) = [each for each in result.outcomes[0].removals if each.reason.code == "concurrency_limit"]
    source = removal.reason.provenance.source
    assert (source.file, source.line) == ("pool.yaml", line)


def test_a_limit_that_is_not_configured_has_the_place_of_the_section(tmp_path):
    """The amount is above HTCondor's default."""
    bundle = write_bundle(tmp_path / "b", "# none\nconcurrency_limits: {a: 1}\n")
    result = cycle(snapshot([slot()], [job(ConcurrencyLimits='"b:2308033"')]), bundle)
    (removal,) = [each for each in result.outcomes[0].removals if each.reason.code == "concurrency_limit"]
    assert removal.reason.provenance.source == bundle.settings["condor"].source
