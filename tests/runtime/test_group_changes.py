"""Limits of groups that change while jobs run: usage counts as it would after a fresh start."""

import pytest

import queueing
from pools import matched, slot, used
from queueing import World, app, limited

GROUPS = "scheduleracl: boss\nplacement:\n  groups: MY.Groups\n"


def limits(*groups, cores=2):
    """Return queues in which each of these groups may use so many cores in root.one."""
    items = ", ".join(
        f"{{limit: l{n}, groups: ['{group}'], maxresources: {{vcore: {cores}}}}}"
        for n, group in enumerate(groups)
    )
    return limited(one=items)


def job(cluster, groups="g,h", where=None, **more):
    """Return a job of one core, running if it has a slot."""
    own = {"RequestCpus": "1", "RequestMemory": "1", "Groups": f'"{groups}"'}
    if where:
        own |= {"JobStatus": "2", "RemoteHost": f'"{where}"'}
    return app(cluster, **(own | more))


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path, queueing.bundle(tmp_path / "bundle", limits("g"), GROUPS))
    made.slots = [slot(number) for number in range(6)]
    with made:
        yield made


def use(world, tmp_path, queues, pool=GROUPS, *, restart=False):
    """Replace the bundle, in the running process or by another one."""
    count = len(list(tmp_path.glob("next*")))
    world.bundle = queueing.bundle(tmp_path / f"next{count}", queues, pool)
    if restart:
        world.stop()
        world.start()
    else:
        world.run.bundle = world.bundle
        world.run.state_manager.use_bundle(world.bundle, world.now)


def vcore(result, group):
    return used(result).get(f"limits.group.{group}.root.one.vcore", 0)


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("shown", [False, True])
def test_jobs_count_for_the_group_that_is_limited_now(world, tmp_path, restart, shown):
    """Running ones and matches that the pool does not show yet, of applications placed before."""
    world.jobs = [job(1)]
    ((_, where),) = matched(world.cycle())
    use(world, tmp_path, limits("h"), restart=restart)
    world.jobs = [*([job(1, where=where)] if shown else []), job(2), job(3)]
    result = world.cycle()
    assert (vcore(result, "h"), len(matched(result))) == (2000, 1)


def test_a_limit_added_later_counts_running_jobs(tmp_path):
    """Applications that no limit of a group counted before."""
    world = World(tmp_path, queueing.bundle(tmp_path / "bundle", limited(), GROUPS))
    world.slots = [slot(number) for number in range(6)]
    with world:
        world.jobs = [job(1)]
        ((_, where),) = matched(world.cycle())
        use(world, tmp_path, limits("h"))
        world.jobs = [job(1, where=where), job(2), job(3)]
        assert vcore(world.cycle(), "h") == 2000


def test_an_application_keeps_a_group_that_is_still_limited(world, tmp_path):
    """Also if a fresh start chose another one; new applications get that one."""
    world.jobs = [job(1)]
    ((_, where),) = matched(world.cycle())
    use(world, tmp_path, limits("h", "g"))
    world.jobs = [job(1, where=where), job(2)]
    result = world.cycle()
    assert (vcore(result, "g"), vcore(result, "h")) == (1000, 1000)


def test_a_limit_that_comes_back_counts_what_ran_meanwhile(world, tmp_path):
    """The group is kept while no limit names it."""
    world.jobs = [job(1)]
    ((_, where),) = matched(world.cycle())
    world.jobs = [job(1, where=where)]
    for queues in (limited(), limits("g")):
        use(world, tmp_path, queues)
        result = world.cycle()
    assert vcore(result, "g") == 1000


WITH_REST = limits("g", "*")


def test_users_in_no_group_count_for_the_wildcard(world, tmp_path):
    """Together with users of other groups, as the specification has it."""
    use(world, tmp_path, WITH_REST)
    world.jobs = [job(1, ""), job(2, "x", user="sue"), job(3, "", user="zoe", Groups=None)]
    result = world.cycle()
    assert (vcore(result, "*"), len(matched(result))) == (2000, 2)


def test_a_key_counts_groups_as_yunikorn_does(world, tmp_path):
    """Users in no group count for none, and an application keeps having none."""
    yunikorn = GROUPS + "group_limits: yunikorn\n"
    use(world, tmp_path, WITH_REST, yunikorn)
    world.jobs = [job(number, "") for number in (1, 2, 3)]
    result = world.cycle()
    assert (vcore(result, "*"), len(matched(result))) == (0, 3)
    use(world, tmp_path, limits("h"), yunikorn)
    world.jobs = [job(1, "h", "s0@h")]
    assert vcore(world.cycle(), "h") == 0
