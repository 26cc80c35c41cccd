"""``negotiator why`` and ``negotiator idle``: what people read, and the JSON."""

import json

import pytest
from click.testing import CliRunner

from negotiator.cli import main
from pools import job, slot, write_ads

QUEUES = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: users
            limits:
              - users: ["*"]
                maxresources: {vcore: 1}
    placementrules:
      - name: fixed
        value: root.users
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Two slots; two jobs of ada, of whom a limit allows one job, one of bob that is too large, and one that runs."""
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "queues.yaml").write_text(QUEUES)
    requirements = "TARGET.Memory >= RequestMemory"
    own = {
        "Requirements": requirements,
        "RequestCpus": "1",
        "GlobalJobId": '"sub1#12.0#1"',
        "ClusterId": "12",
    }
    owners = {name: {"Owner": f'"{name}"', "User": f'"{name}@d"'} for name in ("ada", "bob")}
    jobs = [
        job(0, **own, **owners["ada"], RequestMemory="10"),
        job(1, **own, **owners["ada"], RequestMemory="10"),
        job(2, **own, **owners["bob"], RequestMemory="9000"),
        job(3, **own, **owners["bob"], RequestMemory="10", JobStatus="2"),
    ]
    write_ads(tmp_path / "pool.ads", *jobs)
    write_ads(tmp_path / "slots.ads", slot(0), slot(1, Memory="2048"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEGOTIATOR_POOL", "pool.ads:slots.ads")
    return tmp_path


def invoke(*words):
    return CliRunner().invoke(main, [*words, "--bundle", "bundle"])


def printed(*words):
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.usefixtures("site")
def test_the_decisive_reason_comes_first_then_the_nearest_value_and_who_can_change_it():
    lines = printed("why", "12.2").splitlines()
    assert lines[0] == "Job 12.2 of bob, in root.users (submitter bob@d, schedd sub1)"
    assert lines[1] == "Denied: the job's Requirements: TARGET.Memory >= RequestMemory"
    (row,) = [line for line in lines if "nearest: RequestMemory <= 4096 (now 9000): 1 slot" in line]
    assert row.split()[-5:] == ["2", "2", "the", "job's", "owner"]


@pytest.mark.usefixtures("site")
def test_a_job_that_competes_has_what_a_cycle_with_all_jobs_decides():
    """With the file and line of the limit."""
    answer = printed("why", "sub1#12.1")
    assert "Alone it would get s0@h: 2 of 2 slots could run it now." in answer
    assert answer.splitlines()[1].startswith("Waiting: user ada in root.users: vcore uses 1, needs 1")
    assert "queues.yaml:" in answer
    assert "would give it s0@h" in printed("why", "12.0")


@pytest.mark.usefixtures("site")
def test_a_cluster_stands_for_its_first_idle_job_and_a_running_job_is_named_as_such():
    assert printed("why", "12").startswith("Job 12.0 of ada")
    assert "Waiting: the job is running" in printed("why", "12.3")


def test_with_a_state_the_last_decision_and_the_share_are_printed(site):
    run = ["run", "--bundle", "bundle", "--state", "state", "--audit-log", "log"]
    assert CliRunner().invoke(main, run).exit_code == 0
    assert (site / "state" / "cycles.json").is_file()
    answer = printed("why", "12.1", "--state", "state", "--audit-log", "log")
    assert "Cycle 1 at " in answer
    assert "1 job got no slot in root.users: 12.1: user ada in root.users" in answer
    assert (
        "Share of ada@d: entitled to 4 (slot weight), used 0 before the last cycle and 4 after it" in answer
    )
    assert "Cycle 1 at " in printed("why", "12.0", "--state", "state", "--audit-log", "log")


@pytest.mark.usefixtures("site")
def test_the_json_has_the_conditions_by_their_places():
    found = json.loads(printed("why", "12.2", "--json"))
    (condition,) = found["conditions"]
    assert (condition["rejected"], condition["alone"], condition["lever"]) == (2, 2, "job")
    assert condition["near"] == {
        "subject": "RequestMemory",
        "now": 9000.0,
        "relation": "<=",
        "needed": 4096.0,
        "slots": 1,
    }
    assert (found["together"], found["remedies"]) == ([0], [{"conditions": [0], "slots": 2}])
    assert found["decisive"]["code"] == "job_requirements"


@pytest.mark.parametrize(
    ("job_id", "code", "message"),
    [
        ("12.9", 1, "no job 12.9 in the pool; of this cluster it has 12.0-3"),
        ("77", 1, "no job 77 in the pool of 4 jobs"),
        ("other#12.1", 1, "no job other#12.1 in the pool"),
        ("twelve", 1, "no job, slot, user or queue 'twelve' in the pool"),
        ("s2@h", 1, "no job, slot, user or queue 's2@h' in the pool: did you mean s1@h (slot)?"),
        ("aad", 1, "did you mean ada (user)?"),
        ("user", 1, "did you mean users (queue)?"),
        ("h", 1, "'h' is a machine: name one of its slots, s0@h, s1@h"),
    ],
)
@pytest.mark.usefixtures("site")
def test_an_unknown_or_invalid_id_is_refused_with_what_there_is(job_id, code, message):
    done = invoke("why", job_id)
    assert (done.exit_code, message in done.output) == (code, True), done.output


@pytest.mark.usefixtures("site")
def test_a_word_with_its_kind_is_refused_as_an_invalid_id():
    done = invoke("why", "--job", "s1@h")
    assert (done.exit_code, "invalid job id 's1@h': write CLUSTER.PROC" in done.output) == (2, True)


def test_a_job_of_several_schedds_is_asked_for_by_name(site):
    write_ads(site / "slots.ads", slot(0), job(1, ClusterId="12", GlobalJobId='"sub2#12.1#1"'))
    done = invoke("why", "12.1")
    assert done.exit_code == 2
    assert "job 12.1 is at 2 schedds: write sub1#12.1, sub2#12.1" in done.output
    assert "schedd sub2" in printed("why", "SUB2#12.1")


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("reason", [["1", "denied"], ["1", "waiting"]]),
        ("user", [["ada", "1", "waiting"], ["bob", "1", "denied"]]),
        ("queue", [["root.users", "2", "waiting"]]),
    ],
)
@pytest.mark.usefixtures("site")
def test_idle_jobs_are_added_up_by_reason_user_or_queue(by, rows):
    lines = printed("idle", "--by", by).splitlines()
    assert lines[0] == "2 jobs without a slot; a cycle now would match 1."
    table = [line.split()[: len(rows[0])] for line in lines[4:] if line]
    assert table == rows


@pytest.mark.usefixtures("site")
def test_idle_jobs_of_one_user_or_queue():
    assert "1 job without a slot" in printed("idle", "--user", "bob")
    assert "0 jobs without a slot" in printed("idle", "--queue", "root.other")
    (found,) = json.loads(printed("idle", "--user", "ada", "--json"))["idle"]
    assert (found["user"], found["queue"], found["jobs"]) == ("ada", "root.users", 1)
    assert found["reason"]["provenance"]["plugin"] == "limits"


def test_without_a_pool_the_command_says_how_to_name_one(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for words in (["why", "1.0"], ["idle"]):
        done = CliRunner().invoke(main, words)
        assert (done.exit_code, "missing pool: use --pool PATH" in done.output) == (2, True)


@pytest.mark.parametrize(
    ("job_id", "name", "lines"),
    [
        ("12.2", "s0@h", ["Denied: the job's Requirements: TARGET.Memory >= RequestMemory"]),
        ("12.0", "S0@H", ["Nothing keeps them apart: alone the job would get this slot."]),
        ("12.0", "s1@h", ["Nothing keeps them apart, but alone the job prefers s0@h."]),
        ("12.3", "s1@h", ["Waiting: the job is running"]),
    ],
)
@pytest.mark.usefixtures("site")
def test_why_not_prints_every_reason_for_one_slot(job_id, name, lines):
    found = [line.strip() for line in printed("why", job_id, name).splitlines()]
    assert found == [f"Job {job_id} and {name.lower()}", *lines]


def test_why_not_names_the_gate_the_use_and_the_quota_of_a_slot(site):
    (site / "bundle" / "pool.yaml").write_text("NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Memory < 3000\n")
    write_ads(
        site / "slots.ads", slot(0, State='"Claimed"', RemoteUser='"eve@d"'), slot(1, Memory="2048"), slot(2)
    )
    assert "NEGOTIATOR_PE_STARTD_ONLY_EXPR" in printed("why", "12.0", "s1@h")
    assert printed("why", "12.2", "s0@h").splitlines()[1:] == [
        "  Denied: the job's Requirements: TARGET.Memory >= RequestMemory",
        "  Waiting: PREEMPTION_REQUIREMENTS is not true: the slot keeps its job (fairshare: PREEMPTION_REQUIREMENTS)",
    ]
    running = job(3, Owner='"ada"', User='"ada@d"', JobStatus="2", ClusterId="12", RemoteHost='"s0@h"')
    write_ads(site / "more.ads", running)
    done = invoke("why", "12.0", "s2@h", "--pool", "pool.ads", "--pool", "slots.ads", "--pool", "more.ads")
    assert "user ada in root.users: vcore uses 4, needs 1, may have 1" in done.output


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("kind", ["user", "queue", "slot"])
def test_with_a_slot_the_other_word_is_a_job(kind):
    done = invoke("why", "12.0", "s0@h", f"--{kind}")
    assert (done.exit_code, f"'12.0' is the id of a job: leave out --{kind}" in done.output) == (2, True)
    assert printed("why", "12.0", "s0@h", "--job") == printed("why", "12.0", "s0@h")


@pytest.mark.usefixtures("site")
def test_an_unknown_slot_is_refused_with_the_nearest_name():
    done = invoke("why", "12.0", "s00@h")
    assert (done.exit_code, "no slot s00@h in the pool of 2 slots: did you mean s0@h?" in done.output) == (
        1,
        True,
    )
    assert json.loads(printed("why", "12.2", "s0@h", "--json"))["reasons"][0]["code"] == "job_requirements"


def test_the_last_decision_is_that_of_the_schedd_of_the_job(site):
    """Another schedd may have a job of the same id."""
    run = ["run", "--bundle", "bundle", "--state", "state", "--audit-log", "log"]
    assert CliRunner().invoke(main, run).exit_code == 0
    write_ads(site / "slots.ads", slot(0), job(1, ClusterId="12", GlobalJobId='"sub2#12.1#1"'))
    known = ("--state", "state", "--audit-log", "log")
    assert "Cycle 1 at" in printed("why", "sub1#12.1", *known)
    assert "Cycle 1 at" not in printed("why", "sub2#12.1", *known)


@pytest.mark.usefixtures("site")
def test_why_slot_says_who_gets_it_and_counts_the_jobs_that_it_does_not_suit():
    lines = printed("why", "S0@h").splitlines()
    assert lines[0] == "Slot s0@h (Unclaimed): Cpus 4, Memory 4096"
    assert lines[1] == "A cycle now would give it to job 12.0 of ada: 2 of 3 idle jobs could run on it."
    assert "What keeps idle jobs from it (3 jobs in 2 classes)" in lines
    (row,) = [line for line in lines if "nearest: Memory >= 9000 (now 4096): 1 job" in line]
    assert row.split()[-5:] == ["1", "1", "the", "job's", "owner"]


@pytest.mark.usefixtures("site")
def test_why_slot_has_the_jobs_that_could_run_on_it_and_wait_for_a_limit():
    """The limit is the decisive reason, with its file and line."""
    lines = printed("why", "--slot", "s1@h").splitlines()
    assert lines[1].startswith("Waiting: user ada in root.users: vcore uses 1, needs 1, may have 1")
    assert "queues.yaml:" in lines[1]
    assert (
        lines[2]
        == "2 of 3 idle jobs could run on it; a cycle now would give 1 of them other slots, and it to none."
    )


def test_why_slot_names_the_job_that_it_runs_and_the_last_match(site):
    claimed = slot(0, State='"Claimed"', RemoteUser='"bob@d"', GlobalJobId='"sub1#12.3#1"', JobId='"12.3"')
    write_ads(site / "slots.ads", claimed, slot(1))
    lines = printed("why", "s0@h").splitlines()
    assert lines[1:3] == ["It runs job 12.3 of bob@d.", "Waiting: the slot is in use"]
    run = ["run", "--bundle", "bundle", "--state", "state", "--audit-log", "log"]
    assert CliRunner().invoke(main, run).exit_code == 0
    answer = printed("why", "s1@h", "--state", "state", "--audit-log", "log")
    assert "Last match: cycle 1 at " in answer
    assert "job 12.0 got s1@h in root.users" in answer


def test_why_slot_counts_the_dynamic_slots_that_were_taken_from_it(site):
    whole = slot(
        0, Name='"slot1@h"', Cpus="0", TotalSlotCpus="4", PartitionableSlot="true", Requirements="MY.Cpus > 0"
    )
    parts = [slot(number, Name=f'"slot1_{number}@h"', State='"Claimed"') for number in (1, 2)]
    write_ads(site / "slots.ads", whole, *parts)
    lines = printed("why", "slot1@h").splitlines()
    assert lines[0] == "Slot slot1@h (Unclaimed): Cpus 0 of 4, Memory 4096"
    assert lines[1] == "2 dynamic slots of it are in the pool: no Cpus left."
    assert lines[3] == "None of 3 idle jobs fits it."


@pytest.mark.usefixtures("site")
def test_the_json_of_a_slot_has_what_is_printed():
    found = json.loads(printed("why", "s1@h", "--json"))
    (condition,) = found["conditions"]
    assert (condition["rejected"], condition["lever"], condition["near"]["jobs"]) == (1, "job", 1)
    assert (found["possible"], found["competing"]["elsewhere"], found["competing"]["job"]) == (2, 1, "")
    assert found["competing"]["waiting"][0]["jobs"] == 1


def test_why_user_has_the_idle_jobs_by_reason_the_fair_share_and_the_limits_on_one_screen(site):
    own = {"Owner": '"ada"', "User": '"ada@d"', "ClusterId": "12", "RequestCpus": "1"}
    running = job(4, **own, JobStatus="2", RemoteHost='"s9@h"')
    write_ads(site / "slots.ads", slot(0), slot(1), running)
    lines = printed("why", "ada").splitlines()
    assert lines[0] == "User ada: 1 job with a slot, 2 idle"
    assert lines[1].startswith("Waiting: user ada in root.users: vcore uses 1, needs 1, may have 1 (limits: ")
    assert lines[2] == "A cycle now would give slots to 0 of the idle jobs."
    rows = {line.split()[0]: line.split() for line in lines[3:] if line.startswith("  ")}
    assert rows["2"][1] == "waiting"
    assert rows["ada@d"][-2:] == ["slot", "weight"]
    assert rows["user"][1:6] == ["ada", "root.users", "vcore", "1", "1"]
    assert len(lines) <= 24


@pytest.mark.parametrize("word", ["users", "ROOT.users"])
@pytest.mark.usefixtures("site")
def test_why_queue_has_the_jobs_of_all_its_users_and_the_limits_in_it(word):
    found = json.loads(printed("why", word, "--json"))
    assert (found["kind"], found["name"]) == ("queue", "root.users")
    assert (found["running"], found["matched"]) == (1, 1)
    assert [(each["user"], each["jobs"]) for each in found["idle"]] == [("ada", 1), ("bob", 1)]
    limits = {(each["kind"], each["name"], each["resource"]): each for each in found["limits"]}
    assert (limits["user", "bob", "vcore"]["used"], limits["user", "bob", "vcore"]["limit"]) == (1000, 1000)


@pytest.mark.usefixtures("site")
def test_a_submitter_is_a_user_by_another_name():
    assert printed("why", "bob@d").startswith(
        "User bob@d: 1 job with a slot, 1 idle\nDenied: the job's Requirements"
    )


def test_a_word_for_several_is_refused_with_their_names_and_options(site):
    """The user bob, and a queue of that name."""
    text = QUEUES.replace("          - name: users", "          - {name: bob}\n          - name: users")
    (site / "bundle" / "queues.yaml").write_text(text)
    done = invoke("why", "bob")
    assert done.exit_code == 2
    assert "'bob' may be the user bob, the queue root.bob: use --user or --queue" in done.output
    assert printed("why", "--user", "bob").startswith("User bob: ")
    assert printed("why", "bob", "--queue").startswith("Queue root.bob: 0 jobs with a slot, 0 idle")
    assert "no user 'users' in the pool" in invoke("why", "--user", "users").output


def test_jobs_of_a_user_that_no_queue_accepts_have_their_reason(site):
    (site / "bundle" / "queues.yaml").write_text(QUEUES.replace('submitacl: "*"', 'submitacl: "ada"'))
    lines = printed("why", "--user", "bob").splitlines()
    assert lines[0] == "User bob: 1 job with a slot, 1 idle"
    assert lines[1].startswith("Denied: ")
    assert "12 jobs" not in lines[1]


def test_a_user_without_queues_is_found_by_the_submitter(site):
    """Without placement rules jobs have no queues."""
    (site / "bundle" / "queues.yaml").unlink()
    (site / "bundle" / "pool.yaml").write_text("")
    found = json.loads(printed("why", "bob", "--json", "--disable", "placement"))
    assert (found["running"], sum(each["jobs"] for each in found["idle"]), found["limits"]) == (1, 1, [])


def test_when_a_running_job_ends_at_the_latest_is_printed_where_it_matters(site):
    """To a user at a limit, to a job that waits for slots, and for the slot itself."""
    own = {
        "Owner": '"ada"',
        "User": '"ada@d"',
        "ClusterId": "12",
        "RequestCpus": "1",
        "GlobalJobId": '"sub1#12.4#1"',
    }
    begun = {"ShadowBday": "1800000000", "AllowedJobDuration": "3600", "RemoteHost": '"s0@h"'}
    busy = slot(0, State='"Claimed"', RemoteUser='"ada@d"')
    write_ads(site / "slots.ads", busy, job(4, **own, JobStatus="2", **begun))
    for word, stated in (
        ("ada", "1 of 1 job with a slot"),
        ("users", "1 of 2 jobs with a slot"),
        ("12.0", "1 of 1 job on slots that it only waits for"),
        ("s0@h", "1 of 1 job on it"),
    ):
        until = f"It may change by 2027-01-15 09:00:00 UTC: job 12.4 runs no longer ({stated} states a longest run time)."
        assert until in printed("why", word, "--now", "1800000001"), word
        assert "It may change" not in printed("why", word, "--now", "1900000000")


def test_idle_names_the_attribute_that_makes_many_classes_of_jobs(site):
    own = {"Owner": '"ada"', "User": '"ada@d"', "RequestCpus": "1"}
    jobs = [job(number, **own, ClusterId="70", Colour=str(number)) for number in range(250)]
    write_ads(site / "slots.ads", slot(0, Requirements="TARGET.Colour =!= 7"), slot(1), *jobs)
    text = "253 idle jobs are 252 classes of alike jobs; without Colour they would be 3; it is read by Requirements of slots."
    assert text in printed("idle").splitlines()
    assert json.loads(printed("idle", "--json"))["split_classes"]["attribute"] == "Colour"
    assert json.loads(printed("idle", "--json", "--pool", "pool.ads"))["split_classes"] is None


def full_pool(tmp_path, slots=4, submitters=("ann", "bob")):
    """Write a pool whose slots all run jobs of ann but one of bob, with an idle job of each."""
    ads = [
        slot(n, State='"Claimed"', RemoteUser=f'"{user}@d"', AccountingGroup=f'"{user}@d"', CurrentRank="0.0")
        for n, user in enumerate(["bob", *["ann"] * (slots - 1)])
    ]
    ads += [
        {"MyType": '"Submitter"', "Name": f'"{name}@d"', "ScheddName": '"s"', "IdleJobs": "1"}
        for name in submitters
    ]
    for cluster, name in ((7, "ann"), (9, "bob")):
        owner = {"Owner": f'"{name}"', "User": f'"{name}@d"', "ClusterId": str(cluster), "RequestCpus": "1"}
        ads.append(job(0, **owner, GlobalJobId=f'"s#{cluster}.0#1"', Requirements="true"))
    write_ads(tmp_path / "full.ads", *ads)


def reasons_of(*words):
    """Return the code of each reason that a command has for the idle job of bob."""
    values = json.loads(printed(*words, "--json"))
    return (
        values["decisive"]["code"]
        if "decisive" in values
        else [each["reason"]["code"] for each in values["idle"] if each["user"] in {"bob", ""}]
    )


@pytest.mark.parametrize(
    ("settings", "submitters", "ceiling", "code"),
    [
        ("", ("ann", "bob"), None, "preemption_requirements"),
        ("NEGOTIATOR_CONSIDER_PREEMPTION: false\n", ("ann", "bob"), None, "in_use"),
        ("", ("ann", "bob"), 1, "ceiling"),
        ("", ("ann",), None, "no_submitter"),
        ("GROUP_NAMES: g\nGROUP_QUOTA_g: 0\n", ("ann", "g.bob"), None, "nothing_allocated"),
    ],
)
def test_in_a_full_pool_why_has_the_reason_that_the_cycle_has(
    tmp_path, monkeypatch, settings, submitters, ceiling, code
):
    """The state of the slots is the reason only where the cycle got so far; run, idle and why USER say the same."""
    monkeypatch.chdir(tmp_path)
    full_pool(tmp_path, submitters=submitters)
    if "g.bob" in submitters:
        ads = (tmp_path / "full.ads").read_text()
        (tmp_path / "full.ads").write_text(
            ads.replace('Owner = "bob"', 'Owner = "bob"\nAcctGroup = "g"').replace(
                'User = "bob@d"', 'User = "g.bob@d"'
            )
        )
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "pool.yaml").write_text(
        f"order: submitters\naccounting: {{trust_names: true}}\n{settings}"
    )
    monkeypatch.setenv("NEGOTIATOR_POOL", "full.ads")
    monkeypatch.setenv("NEGOTIATOR_AUDIT_LOG", "log")
    state = ("--state", "state")
    assert invoke("run", *state).exit_code == 0
    if ceiling is not None:
        assert invoke("userprio", "-setceiling", "bob@d", str(ceiling), *state).exit_code == 0
    assert reasons_of("why", "9.0", *state) == code
    assert reasons_of("idle", *state) == reasons_of("why", "--user", "bob", *state) == [code]
    text = printed("why", "9.0", *state)
    decisive = json.loads(printed("why", "9.0", *state, "--json"))["decisive"]["text"]
    assert decisive in text.splitlines()[1]
    assert ("Fewest to change" in text) == (code in {"in_use", "preemption_requirements"})
    (line,) = [line for line in printed("run", *state).splitlines() if decisive in line]
    assert line.split()[1] == "waiting"


@pytest.mark.parametrize("settings", ["", "match: fill\n"])
def test_a_partitionable_slot_that_gives_one_match_a_cycle_is_named_as_such(tmp_path, monkeypatch, settings):
    monkeypatch.chdir(tmp_path)
    owner = {
        "Owner": '"ann"',
        "User": '"ann@d"',
        "ClusterId": "7",
        "RequestCpus": "1",
        "Requirements": "true",
    }
    jobs = [job(n, **owner, GlobalJobId=f'"s#7.{n}#1"') for n in range(4)]
    write_ads(tmp_path / "pool.ads", slot(0, PartitionableSlot="true", Cpus="3", TotalSlotCpus="3"), *jobs)
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "pool.yaml").write_text(f"order: names\n{settings}")
    monkeypatch.setenv("NEGOTIATOR_POOL", "pool.ads")
    sentence = (
        "It is a partitionable slot, which gives one match a cycle; "
        "with match: fill in pool.yaml it gives as many as it has room for."
    )
    matched = invoke("run").stdout.splitlines()[0]
    if settings:
        assert matched.endswith("3 matched, 1 not matched")
        assert all("match: fill" not in printed("why", word) for word in ("7.0", "7.3", "s0@h"))
        return
    assert matched.endswith("1 matched, 3 not matched")
    assert sentence in printed("why", "7.3").splitlines()
    assert sentence in printed("why", "s0@h").splitlines()
    assert "match: fill" not in printed("why", "7.0")


def test_slots_that_take_no_part_have_who_can_change_that(site):
    (site / "bundle" / "condor_config").write_text("NEGOTIATOR_SLOT_CONSTRAINT = Memory > 3000\n")
    lines = printed("why", "12.2").splitlines()
    assert "What keeps it from slots (1 takes part)" in lines
    (discarded,) = (line for line in lines if line.startswith("  discarded: "))
    assert discarded.endswith("  the pool's administrator")
