"""Settings of ``order: submitters`` that change who takes part, and how requests are served."""

import pytest

from fair_share import FAIR, jobs_of, submitter
from negotiator.bundle import examine_bundle
from negotiator.plugin import Severity
from pools import NOW, cycle, matched, slot, snapshot, write_bundle


def run(folder, knobs, slots, jobs, submitters):
    bundle = write_bundle(folder / "b", FAIR, conf=knobs)
    return cycle(snapshot(slots, jobs, submitters=submitters), bundle)


def users(result):
    return [entry.submitter.partition("@")[0] for entry in result.journal]


def slots(count, **attributes):
    return [slot(number, **({"Cpus": "1"} | attributes)) for number in range(count)]


def test_a_submitter_that_a_constraint_leaves_out_has_no_share(tmp_path):
    result = run(
        tmp_path,
        'NEGOTIATOR_SUBMITTER_CONSTRAINT = Name == "ann@d"\n',
        slots(6),
        [*jobs_of("ann", 9, 1), *jobs_of("sue", 9, 2)],
        [submitter("ann", 9), submitter("sue", 9)],
    )
    assert users(result) == ["ann"] * 6
    ((first, *_),) = [pie.spins for pie in result.order.pies]
    assert (first.submitters, first.normal_factor) == (1, 1)


@pytest.mark.parametrize(("knob", "got"), [("true", 3), ("false", 1)])
def test_suspended_slots_are_no_use_if_they_are_to_be_discounted(tmp_path, knob, got):
    claimed = {"State": '"Claimed"', "RemoteUser": '"ann@d"', "Activity": '"suspended"'}
    pool = [slot(number, Cpus="1", **(claimed if number < 2 else {})) for number in range(6)]
    result = run(
        tmp_path,
        f"NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES = {knob}\nNEGOTIATOR_CONSIDER_PREEMPTION = false\n",
        pool,
        [*jobs_of("ann", 9, 1), *jobs_of("sue", 9, 2)],
        [submitter("ann", 9), submitter("sue", 9)],
    )
    assert users(result).count("ann") == got


def test_a_match_stands_for_the_jobs_that_fill_its_slot_with_depth_first(tmp_path):
    """Jobs of two cores each: the slots hold three, two (by memory), none, since one is too small, and three."""
    pool = [
        slot(number, Cpus=cpus, Memory=memory)
        for number, (cpus, memory) in enumerate([("7", "9000"), ("8", "2048"), ("1", "9000"), ("7", "9000")])
    ]
    jobs = jobs_of("ann", 10, 1, RequestCpus="2", RequestMemory="1024", Requirements="true")
    knobs = "NEGOTIATOR_DEPTH_FIRST = true\nNEGOTIATOR_PRE_JOB_RANK = -SlotID\nNEGOTIATOR_POST_JOB_RANK = 0\n"
    for count, expected in ((3, ["1.0"]), (5, ["1.0", "1.1"]), (6, ["1.0", "1.1", "1.2", "1.3"])):
        result = run(tmp_path / str(count), knobs, pool, jobs[:count], [submitter("ann", count)])
        assert [found for found, _ in matched(result)] == expected
        assert result.order.rejections == ()


def test_jobs_that_were_counted_as_served_have_the_slots_of_the_next_spin(tmp_path):
    """Ann's limit of the first spin counts her second job as served, and she takes a slot more in the next one."""
    jobs = [
        *jobs_of("ann", 4, 1, RequestCpus="1", RequestMemory="1"),
        *jobs_of("sue", 1, 2, Requirements="false"),
    ]
    pool = slots(4, Cpus="2")
    result = run(
        tmp_path, "NEGOTIATOR_DEPTH_FIRST = true\n", pool, jobs, [submitter("ann", 4), submitter("sue", 1)]
    )
    assert users(result) == ["ann"] * 3
    assert [len(pie.spins) for pie in result.order.pies] == [2]


def test_the_ranks_of_jobs_have_no_say_if_they_are_ignored(tmp_path):
    pool = [
        slot(number, Mips=str(mips), Memory=str(memory))
        for number, (mips, memory) in enumerate([(1, 9), (5, 1)])
    ]
    knobs = "NEGOTIATOR_PRE_JOB_RANK = 0\nNEGOTIATOR_POST_JOB_RANK = MY.Mips\n"
    jobs = jobs_of("ann", 1, 1, Rank="TARGET.Memory", RequestMemory="1")
    own = run(tmp_path / "own", knobs, pool, jobs, [submitter("ann", 1)])
    ignored = run(
        tmp_path / "ignored",
        f"{knobs}NEGOTIATOR_IGNORE_JOB_RANKS = true\n",
        pool,
        jobs,
        [submitter("ann", 1)],
    )
    assert [matched(own), matched(ignored)] == [[("1.0", "s0@h")], [("1.0", "s1@h")]]
    assert [each.rank for each in ignored.matches] == [1.0]


def test_jobs_of_a_higher_priority_go_first_among_equal_submitters(tmp_path):
    """Ann's own jobs of two priorities are not neighbours: sue's go between them."""
    jobs = [
        *jobs_of("ann", 1, 1, JobPrio="9"),
        *jobs_of("ann", 1, 2, JobPrio="1"),
        *jobs_of("sue", 2, 3, JobPrio="5"),
    ]
    submitters = [submitter("ann", 2, JobPrioArray='"9 1"'), submitter("sue", 2, JobPrioArray='"5"')]
    result = run(tmp_path, "USE_GLOBAL_JOB_PRIOS = true\n", slots(4), jobs, submitters)
    assert [entry.job for entry in result.journal] == ["1.0", "3.0", "3.1", "2.0"]


@pytest.mark.parametrize("array", ['"many, 9999999999999 x"', "7", "error", '""'])
def test_priorities_that_cannot_be_read_leave_a_submitter_as_it_is(tmp_path, array):
    submitters = [submitter("ann", 2, JobPrioArray=array)]
    result = run(tmp_path, "USE_GLOBAL_JOB_PRIOS = true\n", slots(4), jobs_of("ann", 2, 1), submitters)
    assert users(result) == ["ann", "ann"]


@pytest.mark.parametrize(
    ("knob", "named"),
    [
        ("USE_RESOURCE_REQUEST_COUNTS = true", 0),
        ("USE_RESOURCE_REQUEST_COUNTS = false", 1),
        ("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE = 2", 0),
        ("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE = 1", 1),
    ],
)
def test_a_rejection_names_the_first_job_without_a_slot_if_jobs_are_requested_one_by_one(
    tmp_path, knob, named
):
    result = run(
        tmp_path,
        f"{knob}\n",
        slots(1),
        jobs_of("ann", 3, 1),
        [submitter("ann", 3)],
    )
    assert [each.job_row for each in result.order.rejections] == [named]


def test_a_rank_that_calls_an_unknown_function_is_a_warning_and_all_slots_are_equal(tmp_path):
    (tmp_path / "pool.yaml").write_text(f"{FAIR}NEGOTIATOR_PRE_JOB_RANK: abs(MY.Memory)\n")
    examined = examine_bundle(tmp_path)
    assert [(each.severity, each.message) for each in examined.problems] == [
        (Severity.WARNING, "NEGOTIATOR_PRE_JOB_RANK: unknown function abs")
    ]
    pool = [slot(number, Memory=str(memory)) for number, memory in enumerate([1, 9])]
    found = snapshot(pool, jobs_of("ann", 1, 1, Requirements="true"))
    result = cycle(found, examined.bundle)
    assert matched(result) == [("1.0", "s0@h")]


def test_a_sort_expression_that_calls_an_unknown_function_is_a_warning_too(tmp_path):
    (tmp_path / "pool.yaml").write_text(f"{FAIR}GROUP_SORT_EXPR: abs(GroupQuota)\n")
    assert [(each.severity, each.message) for each in examine_bundle(tmp_path).problems] == [
        (Severity.WARNING, "GROUP_SORT_EXPR: unknown function abs")
    ]


def test_the_ad_of_a_machine_that_is_switched_off_may_stand_for_several_in_the_size_of_the_pool(tmp_path):
    """GhostMultiplier: a match with it costs its own weight."""
    ghost = {"Offline": "true", "GhostMultiplier": "50", "Cpus": "2"}
    jobs, ads = jobs_of("ann", 3, 1), [submitter("ann", 3)]
    result = run(tmp_path, "", [slot(0, Cpus="4"), slot(1, **ghost)], jobs, ads)
    (spin,) = result.order.pies[0].spins
    assert (spin.slot_weight_total, spin.min_slot_weight) == (104, 4)
    assert len(result.journal) == 2


def test_slots_that_are_absent_take_no_part(tmp_path):
    """The collector keeps their ads for condor_status -absent, and shows them to no negotiator."""
    jobs, ads = jobs_of("ann", 3, 1), [submitter("ann", 3)]
    result = run(tmp_path, "", [slot(0, Cpus="1"), slot(1, Cpus="1", Absent="true")], jobs, ads)
    assert matched(result) == [("1.0", "s0@h")]
    assert result.order.pies[0].spins[0].slot_weight_total == 1
    assert [each.reason.code for each in result.discarded] == ["slot_absent"]


def test_slots_that_shut_down_soon_count_in_the_pie_but_get_no_jobs(tmp_path):
    """By the slot's own clock if it shows one: the second slot's is a minute behind, the third one's far ahead."""
    ends = f"CurrentTime > {NOW + 100:.0f}"
    pool = [
        slot(0, Cpus="1", DaemonShutdown=ends),
        slot(1, Cpus="1", DaemonShutdown=ends, MyCurrentTime=f"{NOW - 60:.0f}"),
        slot(2, Cpus="1", DaemonShutdown="CurrentTime > 3e9", MyCurrentTime="4000000000"),
        slot(3, Cpus="1", DaemonShutdown="undefined"),
    ]
    for threshold, slots_left in ((0, 4), (99, 3), (120, 2), (200, 1)):
        knobs = f"NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD = {threshold}\n"
        result = run(tmp_path / str(threshold), knobs, pool, jobs_of("ann", 9, 1), [submitter("ann", 9)])
        ((spin, *_),) = [pie.spins for pie in result.order.pies]
        assert (len(result.matches), spin.slots_left, spin.slot_weight_total) == (slots_left, slots_left, 4)


@pytest.mark.parametrize(
    ("attributes", "knob", "got"),
    [
        ({}, "false", 1),
        ({"WantMatching": "false"}, "true", 0),
        ({"WantMatching": "true"}, "false", 1),
        ({"WorkingCM": '"m"'}, "false", 0),
        ({"WorkingCM": '"m"'}, "true", 1),
    ],
)
def test_a_claimed_partitionable_slot_may_be_left_to_another_manager(tmp_path, attributes, knob, got):
    claimed = slot(0, PartitionableSlot="true", State='"Claimed"', **attributes)
    for preempts in ("true", "false"):
        knobs = f"MATCH_WORKING_CM_SLOTS = {knob}\nNEGOTIATOR_CONSIDER_PREEMPTION = {preempts}\n"
        result = run(tmp_path / preempts, knobs, [claimed], jobs_of("ann", 1, 1), [submitter("ann", 1)])
        assert len(result.matches) == got
