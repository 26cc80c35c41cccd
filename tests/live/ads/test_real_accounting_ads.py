"""The tools of HTCondor read the Accounting ads of this program from a real collector."""

from served_pool import ServedPool, waited_for

SUBMIT = "executable = /bin/sleep\narguments = 1\nlog = /dev/null\nrequest_memory = 1\nrequest_disk = 1024\nqueue\n"
ADS = ("condor_status", "-any", "-constraint", 'MyType == "Accounting"')


def test_condor_userprio_shows_the_accounts_of_submitters_with_idle_jobs(secure_pool, tmp_path):
    site = ServedPool(*secure_pool, tmp_path)
    site.write_bundle()
    for user in ("ann", "bob"):
        site.pool.submit(SUBMIT, user)
    with site.serving("1"):
        values = ("Name", "NegotiatorName", "IsAccountingGroup", "Priority", "ResourcesUsed")
        waited_for(lambda: site.tool("condor_status", "-negotiator", "-af", "Name", check=False), "the ad")
        name = site.tool("condor_status", "-negotiator", "-af", "Name").strip()
        group = f"<none> {name} true 500.0 0"
        users = [f"{user}@example.org {name} false 500.0 0" for user in ("ann", "bob")]

        def advertised():
            return site.tool(*ADS, "-af", *values, check=False).splitlines()

        waited_for(lambda: {group, *users} <= set(advertised()), "the accounts of ann and bob")
        printed = site.tool("condor_userprio", "-collector", "-allusers")
        assert "ann@example.org" in printed
        assert "bob@example.org" in printed
    assert not any("error" in line for line in site.output)
