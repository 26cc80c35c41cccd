"""Limits on partitionable slots of a real pool, with and without a consumption policy.

They are exact under the settings of docs/live-pool.md. Without them a schedd divides the slots itself, and overruns the limit.
"""

import re
from collections import Counter

import pytest

QUEUES = """partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: default
            limits:
              - limit: nobody has more than two processors
                users: ["*"]
                maxresources: {vcore: 2}
    placementrules:
      - name: fixed
        value: root.default
"""
OVERRUN = re.compile(
    r'warning overrun change=begun of="user (\w+) in root.default" resource=vcore used=(\d) limit=2 '
)
LIMIT = "vcore uses 2, needs 1, may have 2"
#: One user for each type of slot: a schedd keeps the rest of a slot for the user who has it.
USERS = {"ann": 1, "bob": 2}


def submit(site, user, count=4):
    """Submit jobs for the slots of a user's type, dynamic ones too; return the number of their cluster."""
    more = "requirements = member(TARGET.SlotTypeID, {{{0}, -{0}}})".format(USERS[user])
    return site.submit(count, user=user, seconds=600, more=more)


def test_a_slot_with_a_consumption_policy_hands_out_as_many_claims_a_cycle_as_it_has(partitionable_site):
    """The fourth job waits for the startd's new claim ids; the startd refuses no claim."""
    site = partitionable_site
    cluster = submit(site, "bob")
    with site.serving() as process:
        process.wait_for(lambda: site.running(cluster) == 4)
    first, *later = site.matches()
    assert Counter(each["cycle"] for each in (first, *later)).most_common(1) == [(first["cycle"], 3)]
    assert "efus" not in site.pool.log("StartLog")


def test_a_limit_is_exact_under_the_settings_for_it(partitionable_site):
    """The users read the reason; the other jobs run once the limit is lifted."""
    site = partitionable_site
    site.write(queues_yaml=QUEUES)
    clusters = [submit(site, user) for user in USERS]
    most = dict.fromkeys(clusters, 0)

    def limited(cluster):
        most[cluster] = max(most[cluster], running := site.running(cluster))
        return running == 2 and any(LIMIT in each for each in site.reasons(cluster))

    with site.serving() as process:
        process.wait_for(lambda: all(limited(each) for each in clusters))
        assert set(most.values()) == {2}
        site.write()
        process.reload()
        process.wait_for(lambda: all(site.running(each) == 4 for each in clusters))
    assert "overrun change" not in process.output()


def test_a_schedd_that_keeps_the_rest_of_a_slot_overruns_a_limit_which_is_reported_until_jobs_end(
    partitionable_site,
):
    """With HTCondor's default of CLAIM_PARTITIONABLE_LEFTOVERS."""
    site = partitionable_site
    file = site.pool.root / "etc" / "condor" / "condor_config"
    text = file.read_text()
    site.write(queues_yaml=QUEUES)
    try:
        file.write_text(f"{text}\nCLAIM_PARTITIONABLE_LEFTOVERS = True\n")
        site.pool.inside("run", "condor_reconfig", "-schedd")
        clusters = [submit(site, user) for user in USERS]
        with site.serving() as process:
            process.wait_for(lambda: any(site.running(each) > 2 for each in clusters))
            process.wait_for(lambda: OVERRUN.search(process.output()))
            user, used = OVERRUN.search(process.output()).groups()
            assert int(used) > 2
            site.pool.remove_jobs()
            process.wait_for_output(f'overrun change=ended of="user {user} in root.default" resource=vcore')
    finally:
        file.write_text(text)
        site.pool.inside("run", "condor_reconfig", "-schedd")
    subject = f"user {user} in root.default"
    recorded = [each for each in site.records("overrun") if each["subject"] == subject]
    assert {each["limit"] for each in recorded} == {2000}
    assert recorded[0]["reason"]["provenance"]["source"].startswith("queues.yaml:")


GUARANTEE = """partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: ann
            resources: {guaranteed: {vcore: 2}}
            properties: {preemption.delay: 1s}
          - name: bob
    placementrules:
      - name: user
        create: false
"""


@pytest.mark.parametrize(
    ("more", "files"),
    [
        ("ALLOW_PSLOT_PREEMPTION: true\nPREEMPTION_REQUIREMENTS: 'true'\n", {}),
        ("order: queues\nqueue_preemption: {interval: 1}\n", {"queues_yaml": GUARANTEE}),
    ],
    ids=["submitters", "queues"],
)
def test_jobs_of_several_dynamic_slots_end_for_one_that_needs_them_together(partitionable_site, more, files):
    """Two of Bob's four jobs end for one of Ann's, and no more: the startd gets the claim ids of both."""
    site = partitionable_site
    site.write(more, **files)
    on_first = "requirements = member(TARGET.SlotTypeID, {1, -1})"
    with site.serving() as process:
        small = site.submit(4, user="bob", seconds=600, more=on_first)
        process.wait_for(lambda: site.running(small) == 4)
        large = site.submit(user="ann", seconds=600, more=f"{on_first}\nrequest_cpus = 2")
        process.wait_for(lambda: site.running(large) == 1)
        assert site.running(small) == 2
    (match,) = (each for each in site.matches() if each["job"] == f"{large}.0")
    assert {each["user"].partition("@")[0] for each in match["preempts"]["slots"]} == {"bob"}
    assert len(match["preempts"]["slots"]) == 2


def test_a_queue_below_its_guarantee_ends_one_job_for_one_of_its_own(partitionable_site):
    """The schedd sends neither QDate nor EnteredCurrentStatus: the job waits since the first cycle that saw it."""
    site = partitionable_site
    site.write("order: queues\nqueue_preemption: {interval: 1}\n", queues_yaml=GUARANTEE)
    with site.serving() as process:
        others = submit(site, "bob")
        process.wait_for(lambda: site.running(others) == 4)
        own = site.submit(
            3, user="ann", seconds=600, more="requirements = member(TARGET.SlotTypeID, {2, -2})"
        )
        process.wait_for(lambda: site.running(own) == 2 == site.running(others))
    ends = [each["preempts"] for each in site.matches() if each["job"].startswith(f"{own}.")]
    assert [(each["by"], each["queue"]) for each in ends] == [("guarantee", "root.bob")] * 2
