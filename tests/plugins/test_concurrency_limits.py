"""HTCondor's concurrency limits, as its manual defines them, through whole cycles."""

import pytest

from negotiator.errors import BundleError
from pools import cycle, denials, job, matched, slot, snapshot, used, write_bundle

POOL = """
concurrency_limits: {Matlab: 3, large: 2, large.special: 1, none: 0}
CONCURRENCY_LIMIT_DEFAULT: 4
"""


@pytest.fixture
def decide(tmp_path):
    def decided(*texts, slots=None, compatible="exact", **more):
        own = write_bundle(tmp_path / "b", f"{POOL}concurrency_limits_compatible: {compatible}\n")
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
    ("all names of a list are needed", ['"matlab other"', '"matlab,none"', '"matlab , other"'], 2),
    ("the limit of a group is that of each of its members", ['"large.a"'] * 3 + ['"large.b"'] * 3, 4),
    ("a member of a group may have its own limit", ['"large.special"'] * 3, 1),
    ("the name of a group is also a name by itself", ['"large"'] * 3 + ['"large.a"'] * 3, 4),
    ("a name without a limit has the default", ['"odd_1"'] * 9, 4),
    ("a limit of 0 refuses everybody", ['"none"'], 0),
    ("a tiny weight is charged too", ['"none:0.00000001"'], 0),
    ("a value that is not a string uses nothing", ["5", "undefined", "error"], 3),
    ("a list without names uses nothing", ['" , "'] * 5, 5),
    ("an expression of the job's own", ['strcat("mat", MY.Rest)'] * 5, 3),
]


@pytest.mark.parametrize(
    ("texts", "expected"), [each[1:] for each in COUNTS], ids=[each[0] for each in COUNTS]
)
def test_as_many_jobs_match_as_the_limits_allow(decide, texts, expected):
    """By the weights and names of their lists."""
    assert len(decide(*texts, Rest='"lab"').matches) == expected


QUIRKS = [
    ("a name that is listed twice is tested once each, and used twice", ['"matlab, matlab"'] * 9, 2, 1),
    ("the larger of two weights is tested, and both are used", ['"matlab:0.5, matlab:2.5"'] * 9, 1, 1),
    ("the empty string is refused", ['""'] * 5, 0, 5),
    ("a weight of 0 counts as 1", ['"matlab:0"'] * 9, 3, 0),
    ("so does a negative one", ['"matlab:-2"'] * 9, 3, 0),
    ("and what is no number", ['"matlab:many"', '"matlab:nan"', '"matlab:"', '"matlab"'], 3, 2),
    ("a weight is the number that its text begins with", ['"matlab:1.5x"'] * 9, 2, 0),
    ("a weight without bound does not fit", ['"matlab:inf"', '"matlab:1e300"'], 0, 0),
    ("an invalid name is ignored", ['"mat-lab"', '"1x,none-x"', '"a.b.c"', '":3"'], 4, 0),
    ("the other names of its list count", ['"mat-lab, none"', '"a..b matlab"'], 1, 0),
]


@pytest.mark.parametrize(
    ("texts", "exact", "fixed"), [each[1:] for each in QUIRKS], ids=[each[0] for each in QUIRKS]
)
def test_a_behaviour_of_condor_negotiator_is_exact_or_fixed(tmp_path, decide, texts, exact, fixed):
    """By ``concurrency_limits_compatible``: each list has its number of matches under both."""
    assert len(decide(*texts).matches) == exact
    (tmp_path / "b").rename(tmp_path / "exact")
    assert len(decide(*texts, compatible="fixed").matches) == fixed


INVALID = ["1x", "a-b", "a.b.c", ".a", "a.", "matlab:-1", "matlab:0", "matlab:x", "matlab:nan"]
INVALID += ["matlab:inf", "matlab:1_0", "matlab:1e300", "matlab:0x1", ":3", "b\u00e4r", "matlab:\u0661"]


@pytest.mark.parametrize("text", INVALID)
def test_an_invalid_item_is_refused_if_asked_for(decide, text):
    """If it were skipped, the job would use a licence without a charge."""
    result = decide(f'"{text}"', '"matlab"', compatible="fixed")
    assert [each for each, _ in matched(result)] == ["1.1"]
    assert "invalid concurrency limit" in refusal(result).text


def test_a_list_with_too_many_items_is_refused(decide):
    """Each item is a charge of every match."""
    names = ",".join(f"name{number}" for number in range(101))
    result = decide(f'"{names}"', '"matlab"')
    assert [each for each, _ in matched(result)] == ["1.1"]
    assert "a list of 101 concurrency limits: at most 100" in refusal(result).text


def refusal(result):
    reasons = [each.reason for outcome in result.outcomes for each in outcome.removals]
    (found,) = [reason for reason in reasons if reason.code == "concurrency_limit_invalid"]
    assert found.verdict == "misconfigured"
    return found


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


def configured(folder, conf, pool_yaml=""):
    """Return the limit that each name has, under HTCondor's settings."""
    settings = write_bundle(folder, pool_yaml, conf=conf).settings["condor"]
    return lambda name: settings.of(name).limit / 1_000_000


CONF = """
A_LIMIT = 5
lower_limit = 2.5
NEGOTIATOR.SUM_LIMIT = $(A_LIMIT) * 2
large.own_LIMIT = 7
CONCURRENCY_LIMIT_DEFAULT_large = 3
CONCURRENCY_LIMIT_DEFAULT = 9
DETECTED_CPUS_LIMIT = any text
"""


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("a", 5),
        ("lower", 2.5),
        ("sum", 10),
        ("large.own", 7),
        ("large.other", 3),
        ("large", 9),
        ("a.x", 9),
        ("other", 9),
        ("detected_cpus", 9),
    ],
)
def test_limits_have_the_names_of_htcondor(tmp_path, name, limit):
    """Its own setting, else that of what is before the dot, else the default; upper and lower case are equal."""
    assert configured(tmp_path / "b", CONF)(name) == limit


def test_the_default_of_all_names_is_that_of_htcondor(tmp_path):
    """More than two million."""
    assert configured(tmp_path / "b", "")("any") == 2_308_032


WRONG = [
    ("LIC_LIMIT = many", "", "LIC_LIMIT must be a number of at least 0"),
    ("LIC_LIMIT = -1", "", "LIC_LIMIT must be a number of at least 0"),
    ("LIC_LIMIT = 0.0/0.0", "", "LIC_LIMIT must be a number of at least 0"),
    ("CONCURRENCY_LIMIT_DEFAULT_X = z", "", "CONCURRENCY_LIMIT_DEFAULT_X must be a number of at least 0"),
    ("CONCURRENCY_LIMIT_DEFAULT = -2", "", "CONCURRENCY_LIMIT_DEFAULT must be a number of at least 0"),
    ("CONCURRENCY_LIMIT_DEFAULT_a.b = 2", "", "invalid name of a concurrency limit: a.b"),
    ("1x_LIMIT = 1", "", "invalid name of a concurrency limit: 1x"),
    ("", "concurrency_limits: {a.b.c: 2}", "invalid name of a concurrency limit: a.b.c"),
    ("", "concurrency_limits: {lic: -2}", "concurrency_limits.lic must be a number of at least 0"),
    ("LIC_LIMIT = 2", "concurrency_limits: {Lic: 2}", "limit the same names"),
    ("CONCURRENCY_LIMIT_DEFAULT_LIC = 2", "concurrency_limits: {Lic: 2}", "limit the same names"),
]


@pytest.mark.parametrize(("conf", "pool_yaml", "message"), WRONG)
def test_a_limit_that_cannot_hold_is_refused_with_its_place(tmp_path, conf, pool_yaml, message):
    """And not taken for the default."""
    with pytest.raises(BundleError) as error:
        write_bundle(tmp_path / "b", pool_yaml, conf=conf)
    (problem,) = error.value.problems
    assert message in problem.message
    assert problem.source.file == ("central.conf" if conf else "pool.yaml")
    assert problem.source.line == 1


def claimed(number, **changed):
    """Return a slot that a job of sue runs on."""
    own = {"State": '"Claimed"', "RemoteUser": '"sue@d"', "RemoteOwner": '"sue@d"'}
    return slot(number, **(own | changed))


def running(number, host, **changed):
    return job(number, Owner='"sue"', User='"sue@d"', JobStatus="2", RemoteHost=f'"s{host}@h"', **changed)


def held(tmp_path, slots, *jobs):
    """Return the usage of limits at the beginning of a cycle in which all jobs run."""
    own = write_bundle(tmp_path / "b", POOL)
    found = used(cycle(snapshot(slots, jobs), own))
    return {name.removeprefix("condor."): amount for name, amount in found.items() if "condor." in name}


def test_claimed_slots_hold_what_their_ads_say(tmp_path):
    """Also what the claim that is about to preempt another will hold."""
    slots = [
        claimed(1, ConcurrencyLimits='"Matlab:2, other"'),
        claimed(2, ConcurrencyLimits='"matlab"', PreemptingConcurrencyLimits='"large"', State='"Preempting"'),
        claimed(3),
    ]
    assert held(tmp_path, slots) == {"matlab": 3_000_000, "other": 1_000_000, "large": 1_000_000}


def test_more_than_the_limit_is_held_if_a_slots_ad_says_so(tmp_path):
    """Its startd wrote it when the limit was another."""
    assert held(tmp_path, [claimed(1, ConcurrencyLimits='"matlab:5"')]) == {"matlab": 5_000_000}


def test_a_slots_ad_counts_before_the_ad_of_its_job(tmp_path):
    """The job's owner can change the latter, and name what no slot's ad has."""
    slots = [claimed(1, ConcurrencyLimits='"matlab"'), claimed(2)]
    forged = {"ConcurrencyLimits": '"other"', "PreemptingConcurrencyLimits": '"large"'}
    jobs = [running(1, 1, **forged), running(2, 2, **forged)]
    assert held(tmp_path, slots, *jobs) == {"matlab": 1_000_000, "other": 1_000_000}


def test_a_slot_holds_its_limits_once(tmp_path):
    """Of several jobs that claim to run on it, the first has them."""
    slots = [claimed(1, ConcurrencyLimits='"matlab:2"')]
    assert held(tmp_path, slots, running(1, 1), running(2, 1)) == {"matlab": 2_000_000}


def test_a_running_job_that_requests_more_than_the_limit_holds_one(tmp_path):
    """If no slot's ad says what it holds, nobody can have granted as much."""
    assert held(tmp_path, [claimed(1)], running(1, 1, ConcurrencyLimits='"matlab:5"')) == {
        "matlab": 1_000_000
    }
