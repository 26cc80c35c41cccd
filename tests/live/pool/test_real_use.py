"""Who is charged for the slots of a real pool: those whose claims it shows, and nobody for claims that are gone.

The names of dynamic slots are used again, so that a match is known by its claim alone.
"""

import pytest

#: One slot of eight cores, of which jobs take parts; a job of another user may end them.
SETTINGS = """NUM_CPUS = 8
MEMORY = 4096
SLOT_TYPE_1 = 100%
SLOT_TYPE_1_PARTITIONABLE = True
NUM_SLOTS_TYPE_1 = 1
CLAIM_WORKLIFE = 0
"""
WHOLE = "request_cpus = 8"


@pytest.fixture
def site(site_of):
    with site_of(SETTINGS) as site:
        yield site


def test_users_are_charged_for_what_they_run_and_the_use_never_exceeds_the_pool(site):
    """As condor_userprio shows it, after a preempting job was removed early, and after short jobs beside long ones."""
    site.write("order: submitters\n", knobs_conf="PREEMPTION_REQUIREMENTS = True\n")

    def use():
        """Return the cores that each user has, by the last cycle."""
        lines = site.pool.inside("run", "condor_userprio", "-all").splitlines()
        words = [line.split() for line in lines if "@example.org" in line]
        found = {each[0].partition("@")[0]: float(each[4]) for each in words}
        assert sum(found.values()) <= 8, found
        return {user: cores for user, cores in found.items() if cores}

    def shows(expected):
        return lambda: use() == expected

    with site.serving() as process:
        site.submit(user="bob", seconds=600, more=WHOLE)
        process.wait_for(shows({"bob": 8}))
        anns = site.submit(user="ann", seconds=600, more=WHOLE)
        process.wait_for(lambda: any(each["job"] == f"{anns}.0" for each in site.matches()))
        site.pool.remove_jobs()
        site.submit(user="tester", seconds=600, more=WHOLE)
        process.wait_for(shows({"tester": 8}))
        assert any(each["slot"].startswith("slot1_1@") for each in site.matches())
        site.pool.remove_jobs()
        process.wait_for(shows({}))

        site.submit(4, user="ann", seconds=600)
        process.wait_for(shows({"ann": 4}))
        short = site.submit(4, user="bob", seconds=2, more='requirements = TARGET.State == "Unclaimed"')
        process.wait_for(lambda: len(site.history(short, "ProcId")) == 4)
        process.wait_for(shows({"ann": 4}))
