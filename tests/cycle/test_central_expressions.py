"""Each of the five expressions, and each of HTCondor's gates, changes the matches; no ad circumvents them."""

import pytest

import pools
from negotiator.bundle import BundleError
from pools import ad, job, matched, reasons, slot, snapshot

SCHEDDS = [ad(Name='"good"'), ad(Name='"bad"')]
SUBMITTERS = [ad(Name='"tester@d"', ScheddName='"good"'), ad(Name='"tester@d"', ScheddName='"bad"')]
POOL = snapshot(
    slots=[slot(0, Memory="64"), slot(1), slot(2, Mips="9")],
    jobs=[job(0, GlobalJobId='"bad#1.0#1"'), job(1, GlobalJobId='"good#1.1#1"', NumJobStarts="11")],
    schedds=SCHEDDS,
    submitters=SUBMITTERS,
)


@pytest.fixture
def decide(tmp_path):
    count = iter(range(100))
    return lambda pool, text="", **more: pools.cycle(
        pool, pools.write_bundle(tmp_path / str(next(count)), text, **more)
    )


def test_without_a_policy_both_jobs_are_matched(decide):
    assert len(matched(decide(POOL))) == 2


def test_the_schedd_expression_discards_a_schedd_with_its_submitters_and_jobs(decide):
    result = decide(POOL, "NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.Name == 'bad'".replace("'", '"'))
    assert [job_id for job_id, _ in matched(result)] == ["1.1"]
    assert {"policy_gate", "schedd_discarded"} <= reasons(result)
    assert sum(item.count for item in result.discarded if item.kind == "submitter") == 1


def test_the_schedd_expression_tests_submitter_ads_too(decide):
    result = decide(POOL, 'NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.ScheddName == "bad"')
    assert [job_id for job_id, _ in matched(result)] == ["1.1"]


def test_the_startd_expression_discards_a_slot(decide):
    result = decide(POOL, "NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Memory < 128 || MY.Mips < 10")
    assert [name for _, name in matched(result)] == ["s1@h"]
    assert result.counts.admitted_slots == 1


def test_the_job_expression_discards_a_job(decide):
    result = decide(POOL, "NEGOTIATOR_PE_JOB_ONLY_EXPR: MY.NumJobStarts > 10")
    assert [job_id for job_id, _ in matched(result)] == ["1.0"]


def test_the_resource_expression_is_anded_to_the_requirements_of_every_slot(decide):
    result = decide(POOL, "NEGOTIATOR_PE_RESOURCE_EXPR: MY.Mips =?= 9 && TARGET.NumJobStarts =?= 11")
    assert matched(result) == [("1.1", "s2@h")]
    assert "resource_constraint" in reasons(result)


def test_the_job_match_expression_is_anded_to_the_requirements_of_every_job(decide):
    result = decide(POOL, "NEGOTIATOR_PE_JOB_EXPR: TARGET.Mips =?= 9 && MY.NumJobStarts =?= 11")
    assert matched(result) == [("1.1", "s2@h")]
    assert "job_constraint" in reasons(result)


@pytest.mark.parametrize(
    "text", ["undefined", "error", '"true"', "{ true }", "false", "0", "MY.NoSuchThing > 1"]
)
@pytest.mark.parametrize("kind", ["SCHEDD", "STARTD", "JOB"])
def test_a_gate_discards_only_where_it_is_true(decide, kind, text):
    assert len(matched(decide(POOL, f"NEGOTIATOR_PE_{kind}_ONLY_EXPR: '{text}'"))) == 2


@pytest.mark.parametrize("text", ["undefined", "error", '"true"', "{ true }", "false", "0"])
@pytest.mark.parametrize("kind", ["RESOURCE", "JOB"])
def test_a_match_expression_allows_only_matches_where_it_is_true(decide, kind, text):
    assert not matched(decide(POOL, f"NEGOTIATOR_PE_{kind}_EXPR: '{text}'"))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("NEGOTIATOR_SLOT_CONSTRAINT: MY.Memory > 100", {"s1@h", "s2@h"}),
        ("NEGOTIATOR_SLOT_CONSTRAINT: MY.Mips == 9", {"s2@h"}),
    ],
)
def test_htcondors_slot_constraint_admits_slots_only_where_it_is_true(decide, text, left):
    assert {name for _, name in matched(decide(POOL, text))} == left


def test_htcondors_job_and_submitter_constraints_admit_ads_where_they_are_true(decide):
    filtered = decide(POOL, "NEGOTIATOR_JOB_CONSTRAINT: MY.NumJobStarts > 10")
    assert [job_id for job_id, _ in matched(filtered)] == ["1.1"]
    filtered = decide(POOL, 'NEGOTIATOR_SUBMITTER_CONSTRAINT: MY.ScheddName == "bad"')
    assert [job_id for job_id, _ in matched(filtered)] == ["1.0"]


def test_a_file_of_the_original_system_has_the_same_effect_as_pool_yaml(decide):
    conf = "# policies\nnegotiator_pe_startd_only_expr = MY.Memory < 128 || \\\n   MY.Mips < 10\n"
    assert [name for _, name in matched(decide(POOL, conf=conf))] == ["s1@h"]


class TestNamedPolicies:
    NAMED = "policies:\n  - {{name: p, applies_to: {}, expression: '{}', mode: {}}}\n"

    @pytest.mark.parametrize(
        ("kind", "text", "left"),
        [
            ("schedd", 'MY.Name == "bad"', 1),
            ("startd", "MY.Mips == 9 || MY.Memory == 64", 1),
            ("job", "MY.NumJobStarts > 10", 1),
            ("match", "TARGET.Mips =?= 9", 1),
        ],
    )
    def test_a_policy_decides_only_in_mode_enforce(self, decide, kind, text, left):
        assert len(matched(decide(POOL, self.NAMED.format(kind, text, "enforce")))) == left
        for mode in ("warn", "dryrun"):
            assert len(matched(decide(POOL, self.NAMED.format(kind, text, mode)))) == 2

    @pytest.mark.parametrize("mode", ["warn", "dryrun"])
    def test_a_policy_that_does_not_enforce_is_a_warning_on_the_match(self, decide, mode):
        result = decide(POOL, self.NAMED.format("match", "TARGET.Memory == 64", mode))
        warnings = [
            (reason.provenance.rule, reason.mode) for match in result.matches for reason in match.warnings
        ]
        assert warnings == [("p", mode)]
        assert {item.reason.mode for outcome in result.outcomes for item in outcome.removals} >= {mode}

    def test_the_reason_names_the_policy_and_its_place(self, decide):
        result = decide(POOL, self.NAMED.format("match", "false", "enforce"))
        (removal,) = [item for item in result.outcomes[0].removals if item.reason.code == "job_constraint"]
        where = removal.reason.provenance
        assert (where.plugin, where.rule) == ("expressions", "p")
        assert str(where.source).startswith("pool.yaml:2:")
        assert (removal.removed, removal.rejected) == (3, 3)


class TestAnAdCannotCircumventAPolicy:
    POLICY = (
        'NEGOTIATOR_PE_JOB_EXPR: TARGET.Mips < 10\nNEGOTIATOR_PE_RESOURCE_EXPR: TARGET.Owner == "alice"\n'
    )

    @pytest.mark.parametrize(
        "trick",
        [
            {},
            {"Requirements": None},
            {"Requirements": "true"},
            {"Requirements": "true || MY.Requirements"},
            {"Mips": "1"},
            {"TARGET": "[ Mips = 1 ]"},
            {"MY": '[ Owner = "alice" ]'},
            {"OTHER": "[ Mips = 1 ]"},
            {"NEGOTIATOR_PE_JOB_EXPR": "true", "NEGOTIATOR_PE_RESOURCE_EXPR": "true"},
        ],
    )
    def test_whatever_the_job_defines_or_omits(self, decide, trick):
        pool = snapshot(slots=[slot(Mips="5000")], jobs=[job(**trick)])
        assert not matched(decide(pool, "NEGOTIATOR_PE_JOB_EXPR: TARGET.Mips < 10\n"))
        owned = snapshot(slots=[slot()], jobs=[job(**trick)])
        assert not matched(decide(owned, 'NEGOTIATOR_PE_RESOURCE_EXPR: TARGET.Owner == "alice"\n'))

    @pytest.mark.parametrize(
        "trick", [{"Requirements": "true"}, {"TARGET": '[ Owner = "alice" ]'}, {"Owner": '"alice"'}]
    )
    def test_whatever_the_slot_defines(self, decide, trick):
        pool = snapshot(slots=[slot(**trick)], jobs=[job()])
        assert not matched(decide(pool, 'NEGOTIATOR_PE_RESOURCE_EXPR: TARGET.Owner == "alice"\n'))

    @pytest.mark.parametrize("kind", ["startd", "job"])
    @pytest.mark.parametrize(
        "trick", [{"MY": "[ Memory = 9 ]"}, {"TARGET": "[ Memory = 9 ]"}, {"p": "false"}]
    )
    def test_gates_evaluate_the_ad_itself(self, decide, kind, trick):
        text = f"policies:\n  - {{name: p, applies_to: {kind}, expression: MY.Memory == 64}}\n"
        pool = snapshot(slots=[slot(Memory="64", **trick)], jobs=[job(Memory="64", **trick)])
        assert not matched(decide(pool, text))


@pytest.mark.parametrize("key", ["NEGOTIATOR_PE_JOB_ONLY_EXPR", "NEGOTIATOR_SLOT_CONSTRAINT"])
def test_a_gate_takes_its_time_from_the_clock_and_not_from_an_ad(tmp_path, key):
    with pytest.raises(BundleError, match=r"use time\(\)"):
        pools.write_bundle(tmp_path / "b", f"{key}: CurrentTime > 5\n")


@pytest.mark.parametrize("side", ["RESOURCE", "JOB"])
def test_a_name_without_scope_is_refused_unless_a_key_allows_it(decide, side):
    """The job's own attribute would be taken for the slot's."""
    text = f"NEGOTIATOR_PE_{side}_EXPR: Mips =?= 9\n"
    with pytest.raises(BundleError, match="Mips has no scope"):
        decide(POOL, text)
    allowed = decide(POOL, f"{text}NEGOTIATOR_PE_ALLOW_UNSCOPED: true\n")
    assert [name for _, name in matched(allowed)] == ["s2@h"]


def test_each_conjunct_of_a_central_expression_counts_the_slots_it_removed(decide):
    text = 'NEGOTIATOR_PE_JOB_EXPR: TARGET.Memory > 100 && (TARGET.Mips =?= 9 && MY.Owner == "tester")\n'
    result = decide(POOL, text)
    removed = {
        item.reason.text: (item.removed, item.rejected)
        for item in result.outcomes[0].removals
        if item.reason.code == "job_constraint"
    }
    assert removed == {
        "NEGOTIATOR_PE_JOB_EXPR: TARGET.Memory > 100": (1, 1),
        "NEGOTIATOR_PE_JOB_EXPR: TARGET.Mips =?= 9": (1, 2),
    }


SPAN = 'absTime("2020-01-02T00:00:00Z") - absTime("2020-01-01T00:00:00Z")'


@pytest.mark.parametrize(
    "text", [SPAN, f"({SPAN})", f"true && ({SPAN})", "MY.Start", f"true ? {SPAN} : false"]
)
@pytest.mark.parametrize("side", ["slot", "job"])
def test_requirements_that_are_a_span_of_time_match_nothing(decide, side, text):
    """As HTCondor's daemons decide; only the Python library of HTCondor says that they match."""
    ad = {"Requirements": text, "Start": SPAN}
    pool = snapshot([slot(0, **(ad if side == "slot" else {}))], [job(0, **(ad if side == "job" else {}))])
    assert matched(decide(pool)) == []
