"""What the rules of a bundle mean for the reuse of claims: the policy that a match carries, and which rules it leaves out."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expressions import NAMES, ads, expressions, literals
from negotiator.bundle import load_bundle
from negotiator.bundle.reuse import POLICY, ReusePlan, _policy, gate_condition, pair_condition
from negotiator.classad import ERROR, Ad, evaluate, is_true, parse, parse_ad, parse_old
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.declarations import ConstraintSide, GateTest
from negotiator.hooks.overruns import Reuse

PE = "NEGOTIATOR_PE_JOB_ONLY_EXPR: Blocked =?= true\nNEGOTIATOR_PE_RESOURCE_EXPR: TARGET.Big =!= true\n"
LIMIT = "# with a limit\n"
SETS = "{\n name a\n enabled TRUE\n limit users {*} to slots=1\n}\n"
SLOTS = "NEGOTIATOR_PE_STARTD_ONLY_EXPR: {}\n"
FILTER = """
from negotiator.plugin import Filter, hookimpl

@hookimpl
def negotiator_job_attributes():
    return ["Night"]

@hookimpl
def negotiator_filter_slots(request, slots):
    return ()
"""
EXPRESSION_ADS = ads("OnlyOther")
LITERAL_ADS = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, literals)).map(
    lambda ad: "[" + "; ".join(f"{name} = {text}" for name, text in ad.items()) + "]"
)
VALUES = [None, "undefined", "true", "false", "1", "0", "2.5", '"a"', '"B"', "error"]


@pytest.fixture
def plan(tmp_path):
    """Return a function: the plan of a bundle with this pool.yaml."""

    def of(text, plugin=None):
        folder = tmp_path / "bundle"
        (folder / "plugins").mkdir(parents=True, exist_ok=True)
        if plugin:
            (folder / "plugins" / "night.py").write_text(plugin)
            text += "plugins:\n  folders: [plugins]\n"
        if LIMIT in text:
            (folder / "a.rqs").write_text(SETS)
        (folder / "pool.yaml").write_text(text)
        return ReusePlan.of(load_bundle(folder))

    return of


def named(policy, **keys):
    lines = [f"  - {{name: p, expression: '{policy}'"] + [f", {key}: {value}" for key, value in keys.items()]
    return "policies:\n" + "".join(lines) + "}\n"


@pytest.mark.parametrize(
    ("text", "tested", "untested"),
    [
        ("", Reuse.ALLOW, Reuse.ALLOW),
        (PE, Reuse.SAME, Reuse.NEVER),
        (PE + "reuse: same\n", Reuse.SAME, Reuse.NEVER),
        (PE + "reuse: allow\n", Reuse.ALLOW, Reuse.ALLOW),
        (PE + "reuse: never\n", Reuse.NEVER, Reuse.NEVER),
        ("reuse: never\n", Reuse.NEVER, Reuse.NEVER),
        (LIMIT, Reuse.ALLOW, Reuse.ALLOW),
        (LIMIT + PE, Reuse.SAME, Reuse.NEVER),
        ("concurrency_limits: {matlab: 3}\nreuse: same\n", Reuse.ALLOW, Reuse.ALLOW),
        # A slot or a schedd that passed a gate has passed it for all jobs, unless the gate reads what a match takes of a slot.
        (SLOTS.format("Mips < 10"), Reuse.ALLOW, Reuse.ALLOW),
        (SLOTS.format("Cpus < 2"), Reuse.SAME, Reuse.NEVER),
        ("NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: Busy\n", Reuse.ALLOW, Reuse.ALLOW),
        ("NEGOTIATOR_PE_JOB_EXPR: TARGET.Mips > 9\n", Reuse.ALLOW, Reuse.ALLOW),
        (named("MY.A", applies_to="match"), Reuse.SAME, Reuse.NEVER),
        (named("MY.A", applies_to="match", reuse="allow"), Reuse.ALLOW, Reuse.ALLOW),
        (named("MY.A", applies_to="match", reuse="never"), Reuse.NEVER, Reuse.NEVER),
        (named("MY.A", applies_to="job", reuse="never"), Reuse.NEVER, Reuse.NEVER),
        (named("MY.A", applies_to="job", reuse="same") + "reuse: allow\n", Reuse.SAME, Reuse.NEVER),
        (named("MY.A", applies_to="job", mode="warn"), Reuse.ALLOW, Reuse.ALLOW),
        # No expression for a schedd can say these.
        (named("MY.SubmitterUserPrio > 1", applies_to="match"), Reuse.NEVER, Reuse.NEVER),
        (named('eval("MY.A")', applies_to="match", allow_unscoped="true"), Reuse.NEVER, Reuse.NEVER),
        (named("[a = MY.A].a", applies_to="match"), Reuse.NEVER, Reuse.NEVER),
        (named(f'MY.A == "{"x" * 9000}"', applies_to="job"), Reuse.NEVER, Reuse.NEVER),
    ],
)
def test_a_claim_is_used_within_the_tests_of_the_bundle_unless_allow_is_written(plan, text, tested, untested):
    found = plan(text)
    assert (found.tested, found.untested) == (tested, untested)
    assert bool(found.policy) == (tested is Reuse.SAME)


def test_the_code_of_a_filter_leaves_each_claim_to_one_job(plan):
    found = plan("", FILTER)
    assert (found.tested, found.untested) == (Reuse.NEVER, Reuse.NEVER)
    assert plan("reuse: allow\n", FILTER).untested is Reuse.ALLOW


def test_a_plugin_that_fails_to_name_its_rules_leaves_each_claim_to_one_job(plan):
    failing = (
        FILTER
        + """
import attrs
from negotiator.plugin import Section

@attrs.frozen
class Nothing:
    pass

def rules(settings, root):
    raise ValueError("no rules")

@hookimpl
def negotiator_section():
    return Section(schema=Nothing, rules=rules)
"""
    )
    assert plan("", failing).tested is Reuse.NEVER


@pytest.mark.parametrize(
    ("text", "bypassed"),
    [
        (PE, []),
        (PE + "reuse: allow\n", ["pool.yaml:2:30", "pool.yaml:1:30"]),
        (LIMIT + PE, ["a.rqs:4:2"]),
        (LIMIT + PE + "reuse: never\n", []),
        ("concurrency_limits: {matlab: 3}\n", []),
        (named("MY.A", applies_to="match", reuse="allow") + PE, ["pool.yaml:2:28"]),
    ],
)
def test_what_can_be_bypassed_is_named_with_its_place(plan, text, bypassed):
    assert [str(each.source) for each in plan(text).bypasses] == bypassed


def ad(values):
    texts = [f"{name} = {value}" for name, value in values.items() if value is not None]
    return parse_ad(f"[{'; '.join(texts)}]")


ADS = st.fixed_dictionaries({name: st.sampled_from(VALUES) for name in "AB"})
PAIRS = ["MY.A == TARGET.A", "MY.A > TARGET.B", "MY.A =?= TARGET.B || TARGET.A", "MY.A", "TARGET.B ?: MY.A"]
PAIRS += ["!(MY.A && TARGET.B)", "isUndefined(MY.A)", 'regexp("^b", MY.B, "i")', "MY.A ? TARGET.A : MY.B"]
GATES = ["A", "MY.A =?= true", "A == B", "TARGET.A =?= undefined && B", "A ?: B", "OTHER.A || SELF.B"]


@pytest.mark.parametrize("text", PAIRS)
@given(job=ADS, slot=ADS)
def test_the_policy_is_true_where_a_match_expression_is(plan_of, text, job, slot):
    """The schedd evaluates it in its ad of the slot, with the job as TARGET; the two expressions have MY on either side."""
    job, slot = ad({**job, "ClusterId": "7"}), ad(slot)
    for kind, my, target in (
        ("NEGOTIATOR_PE_JOB_EXPR", job, slot),
        ("NEGOTIATOR_PE_RESOURCE_EXPR", slot, job),
    ):
        found = plan_of(f"{kind}: '{text}'\nreuse: same\n")
        if found.policy:
            permitted = is_true(evaluate(parse(text), my, target))
            assert evaluate(parse(found.policy), slot, job) is permitted


@pytest.mark.parametrize("text", GATES)
@given(job=ADS, slot=ADS)
def test_the_policy_is_true_where_a_gate_keeps_the_job(plan_of, text, job, slot):
    job, slot = ad({**job, "ClusterId": "7"}), ad(slot)
    is_discarded = is_true(evaluate(parse(text), job))
    discards = plan_of(f"NEGOTIATOR_PE_JOB_ONLY_EXPR: '{text}'\n")
    keeps = plan_of(f"NEGOTIATOR_JOB_CONSTRAINT: '{text}'\n")
    assert evaluate(parse(discards.policy), slot, job) is not is_discarded
    assert evaluate(parse(keeps.policy), slot, job) is is_discarded


def test_the_policy_permits_everything_where_the_two_ads_are_exchanged(plan):
    """A startd that has no such attribute finds it in the ad of the job."""
    policy = parse(plan(PE).policy)
    slot, denied = ad({}), ad({"ClusterId": "7", "Blocked": "true", "Big": "true"})
    assert evaluate(policy, slot, denied) is False
    assert evaluate(policy, denied, slot) is True


def test_a_name_without_scope_is_looked_up_in_the_ad_of_the_expression_first(plan):
    """Of the job's expressions no policy can say it: one that writes ``A = undefined`` hides the slot's A."""
    text = "NEGOTIATOR_PE_ALLOW_UNSCOPED: true\nNEGOTIATOR_PE_RESOURCE_EXPR: A == 1 && TARGET.B\n"
    policy = plan(text).policy
    for job, slot in itertools.product((None, "undefined", "1", "2"), repeat=2):
        my, target = ad({"ClusterId": "7", "A": job, "B": "true"}), ad({"A": slot})
        permitted = is_true(evaluate(parse("A == 1"), target, my))
        assert is_true(evaluate(parse(policy), target, my)) is permitted
    found = plan(text.replace("RESOURCE", "JOB"))
    assert (found.tested, found.policy) == (Reuse.NEVER, "")
    assert "it reads a without MY or TARGET" in found.one_job_rules[0].obstacle


@pytest.mark.parametrize("text", ['MY.A == "a\\\\"', 'MY.A == "a\\nb"', 'stringListMember("\\\\", MY.A)'])
def test_what_the_syntax_of_the_daemons_cannot_write_is_in_no_policy_and_in_no_query(plan, text):
    found = plan(f"NEGOTIATOR_PE_JOB_ONLY_EXPR: '{text}'\n")
    assert (found.tested, found.policy) == (Reuse.NEVER, "")
    assert "read otherwise" in found.one_job_rules[0].obstacle


@given(text=expressions(), job=EXPRESSION_ADS, slot=EXPRESSION_ADS, side=st.sampled_from(ConstraintSide))
def test_the_test_of_start_denies_exactly_what_any_match_expression_does_not_permit(text, job, slot, side):
    """With attributes that are expressions over both ads, and errors; as START tests it, in the syntax of the schedd."""
    expression = parse(text)
    condition, _ = pair_condition(expression, side, frozenset())
    slot, job = parse_ad(slot), parse_ad(f"[ClusterId = 7; {job[1:]}")
    my, target = (job, slot) if side is ConstraintSide.JOB else (slot, job)
    if condition is not None:
        permitted = is_true(evaluate(expression, my, target))
        assert is_true(start_test(condition, slot, job)) is permitted


@given(text=expressions(), job=LITERAL_ADS, slot=EXPRESSION_ADS, keeps=st.booleans())
def test_the_test_of_start_denies_whatever_a_gate_would_discard(text, job, slot, keeps):
    """The only other ones are those of which the evaluation of a gate fails."""
    expression = parse(text)
    condition, _ = gate_condition(
        GateTest(kinds=(AdKind.JOB,), expression=expression, keeps=keeps), frozenset()
    )
    slot, job = parse_ad(slot), parse_ad(f"[ClusterId = 7; {job[1:]}")
    if condition is not None:
        value = evaluate(expression, job)
        permitted, tested = is_true(value) is keeps, is_true(start_test(condition, slot, job))
        assert tested is permitted or (value is ERROR and not tested)


def start_test(condition, slot, job):
    """Return the value of the line of START for a job on a claim with a policy."""
    names = {**dict(slot.items()), POLICY: parse_old(_policy([condition]))}
    return evaluate(parse(f"MY.{POLICY} =!= false"), Ad(names.items()), job)


@pytest.fixture(scope="module")
def plan_of(tmp_path_factory):
    """Return a function: the plan of a bundle, each loaded once."""
    found = {}

    def of(text):
        if text not in found:
            folder = tmp_path_factory.mktemp("bundle")
            (folder / "pool.yaml").write_text(text)
            found[text] = ReusePlan.of(load_bundle(folder))
        return found[text]

    return of
