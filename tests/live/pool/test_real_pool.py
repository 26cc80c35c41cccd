"""Jobs of a real pool run because this negotiator said so."""

from served_pool import waited_for

USERS = ("ann", "bob", "carol")


def test_submitted_jobs_run_and_complete(any_site):
    """More jobs than slots: the slots are matched again. No claim id is written anywhere."""
    site = any_site
    cluster = site.submit(6)
    output = site.serve_until(lambda: not site.queue(cluster))
    assert site.history(cluster, "ProcId", "JobStatus") == [f"{number} 4" for number in range(6)]
    assert len(site.matches()) == 6
    assert "error" not in output
    assert not any(b"#1#" in text or b"[Integrity" in text for text in (output.encode(), *site.written()))


def test_jobs_that_end_between_two_cycles_do_not_keep_their_slots_from_others(site):
    """No cycle sees the slots claimed."""
    cluster = site.submit(6, seconds=1)
    with site.serving("--every", "8") as process:
        process.wait_for(lambda: not site.queue(cluster))
    assert len(site.matches()) == 6


def test_jobs_of_several_users_run_at_the_same_time(site):
    """At one schedd; each user gets a slot although they ask for more than there are."""
    clusters = [site.submit(3 if user == "ann" else 1, user=user, seconds=8) for user in USERS]
    advertised = ("condor_status", "-submitters", "-constraint", "IdleJobs > 0", "-af", "Name")
    waited_for(lambda: len(site.pool.inside("run", *advertised).split()) == len(USERS), "ads of all users")
    with site.serving() as process:
        process.wait_for(lambda: all(map(site.is_running, clusters)))
        process.wait_for(lambda: not any(map(site.queue, clusters)))
    assert {match["submitter"] for match in site.matches()} == {f"{user}@example.org" for user in USERS}
    owners = [site.history(cluster, "Owner", "JobStatus") for cluster in clusters]
    assert [set(each) for each in owners] == [{f"{user} 4"} for user in USERS]


def test_a_job_that_fits_nowhere_learns_which_of_its_conditions_excludes_the_slots(site):
    cluster = site.submit(memory=10_000_000)
    site.serve_until(
        lambda: site.reasons(cluster) == {"the job's Requirements: TARGET.Memory >= RequestMemory"}
    )
