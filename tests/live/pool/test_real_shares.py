"""A ceiling, a group quota and a fair share keep jobs of a real pool idle, with the reason where their user looks.

Cycles follow each other at once, without waiting for startds: a match counts before the pool shows it.
"""

from served_pool import waited_for

#: The pool has four slots.
CEILING = "tester@example.org has reached its ceiling: it uses 2 of 2 weighted slots"
QUOTA = "group physics has reached its quota: it uses 2 of 2 weighted slots"
SHARE = "has used its share of the pool in this cycle: it uses 2 of 2 weighted slots"
GROUP = "accounting_group = physics\naccounting_group_user = tester"
USERS = ("ann", "bob")


def set_ceiling(site, value):
    """Change the ceiling of tester by the pool's own tool."""
    site.pool.inside("run", "condor_userprio", "-setceil", "tester@example.org", value)


def analyzed(site, job):
    """Return what a user reads of a job by the pool's own tool."""
    return site.pool.inside("run", "condor_q", "-better-analyze", job)


def advertised(site):
    """Return the submitters that the collector knows, and their idle jobs."""
    return site.pool.inside("run", "condor_status", "-submitters", "-af", "Name", "IdleJobs").split("\n")[:-1]


def groups(site):
    """Return the group of each running job, and that in which it was matched, as startds advertise them."""
    names = ("RemoteGroup", "RemoteNegotiatingGroup", "RemoteAutoregroup")
    options = ("-constraint", 'State == "Claimed"', "-af", *names)
    return site.pool.inside("run", "condor_status", *options).split("\n")[:-1]


def stopped(site, cluster, count, reason):
    """True if so many jobs of a cluster run, none more, and another one has the reason."""
    return site.running(cluster) == count and any(reason in each for each in site.reasons(cluster))


def test_a_ceiling_keeps_jobs_idle_until_it_is_raised(site):
    site.write(site.listening())
    with site.serving() as process:
        process.wait_for_output("cycle")
        set_ceiling(site, "2")
        cluster = site.submit(4, seconds=600)
        process.wait_for(lambda: stopped(site, cluster, 2, CEILING))
        (idle, *_) = (
            each.split()[1] for each in site.queue(cluster, "JobStatus", "ProcId") if each[0] == "1"
        )
        assert CEILING in analyzed(site, f"{cluster}.{idle}")
        set_ceiling(site, "-1")
        process.wait_for(lambda: site.running(cluster) == 4)


def test_a_group_quota_keeps_jobs_idle_until_it_is_raised(site):
    site.write(central_conf="GROUP_NAMES = physics\nGROUP_QUOTA_physics = 2\n")
    cluster = site.submit(4, seconds=600, more=GROUP)
    with site.serving() as process:
        process.wait_for(lambda: stopped(site, cluster, 2, QUOTA))
        waited_for(lambda: groups(site) == ["physics physics false"] * 2, "the groups of running jobs")
        site.write(central_conf="GROUP_NAMES = physics\nGROUP_QUOTA_physics = 4\n")
        process.reload()
        process.wait_for(lambda: site.running(cluster) == 4)


def test_a_fair_share_keeps_jobs_idle_until_the_others_are_gone(site):
    clusters = [site.submit(4, user=user, seconds=600) for user in USERS]
    waited_for(
        lambda: {f"{user}@example.org 4" for user in USERS} <= set(advertised(site)), "both submitters"
    )
    with site.serving() as process:
        process.wait_for(lambda: all(stopped(site, each, 2, SHARE) for each in clusters))
        site.pool.inside("run", "condor_rm", clusters[0])
        process.wait_for(lambda: site.running(clusters[1]) == 4)
