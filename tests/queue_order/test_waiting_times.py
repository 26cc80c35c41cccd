"""Since when requests of a live pool wait, which have neither QDate nor EnteredCurrentStatus: preemption between queues needs it."""

import pytest

from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from negotiator.runtime.state import StateStore
from negotiator.runtime.state_manager import StateManager
from negotiator_queue_order.state_rows import MAX_REQUESTS, check_row
from pools import NOW, ad, matched, slot, snapshot
from queue_order_pools import QUEUES, asking, bundle_of, running

POOL = "order: queues\nqueue_preemption: {interval: 0}\n"
FREE = slot(7, Cpus="1", Memory="100")


def request(cluster=1, autocluster=3, schedd="h", submitter="ann@d", **more):
    """Return a request as a schedd of a live pool sends it, for one job of root.a; of attributes None removes one."""
    ids = {
        "GlobalJobId": f'"{schedd}#{cluster}.0#0"',
        "_condor_RESOURCE_COUNT": "1",
        "SubmitterName": f'"{submitter}"',
    }
    own = {"QDate": None, "JobStatus": None, "User": f'"{submitter}"', "Rank": "0.0"}
    if autocluster is not None:
        own["AutoClusterId"] = str(autocluster)
    return asking(1, cluster=cluster, **(ids | own | more))


def idle(schedd="h", submitter="ann@d", jobs=1):
    return ad(
        MyType='"Submitter"',
        Name=f'"{submitter}"',
        ScheddName=f'"{schedd}"',
        IdleJobs=str(jobs),
        RunningJobs="0",
    )


A, MANY = request(), [*request(), *request(2, 4), *request(3, 5)]
TWO = request(_condor_RESOURCE_COUNT="2")
NEW = request(QDate=str(int(NOW) + 20))
#: The cycles of each case: seconds, the requests, further slots or submitter ads, and the jobs that end running ones.
CASES = {
    "from the first cycle that saw it": [(0, A, [], []), (29, A, [], []), (30, A, [], ["1.0"])],
    "a QDate is known": [(0, request(QDate="5"), [], ["1.0"])],
    "a QDate wins": [(0, A, [], []), (30, NEW, [], []), (50, NEW, [], ["1.0"])],
    "the status wins": [(0, request(QDate="5", EnteredCurrentStatus=str(int(NOW))), [], [])],
    "by its autocluster": [(0, A, [], []), (30, request(2), [], ["2.0"])],
    "another autocluster": [(0, A, [], []), (30, request(1, 4), [], [])],
    "another submitter": [(0, A, [], []), (30, request(submitter="eve@d"), [], [])],
    "another schedd": [(0, A, [], []), (30, request(schedd="i"), [], [])],
    "by its cluster": [(0, request(1, None), [], []), (30, request(1, None), [], ["1.0"])],
    "another cluster": [(0, request(1, None), [], []), (30, request(2, None), [], [])],
    "each by itself": [(0, A, [], []), (20, MANY, [], []), (30, MANY, [], ["1.0"]), (50, MANY[1:], [], ["2.0"])],
    "a request that is gone is forgotten": [(0, A, [], []), (20, [], [], []), (30, A, [], []), (60, A, [], ["1.0"])],
    "one that got its slot too": [(0, A, [], []), (20, A, [FREE], []), (40, request(2), [], []), (70, request(2), [], ["2.0"])],
    "the rest of one goes on": [(0, TWO, [], []), (20, TWO, [FREE], []), (30, request(2), [], ["2.0"])],
    "one of a slow schedd is not": [(0, A, [], []), (20, [], [idle()], []), (30, A, [], ["1.0"])],
    "without idle jobs it is": [(0, A, [], []), (20, [], [idle(jobs=0)], []), (30, A, [], [])],
    "the clock was set back": [(0, A, [], []), (-99, A, [], []), (-70, A, [], []), (-69, A, [], ["1.0"])],
}  # fmt: skip


def run(bundle, seconds, waits, more, state, number=1):
    jobs, slots = running("root.b", 4)
    ads = [each for each in more if each is not FREE]
    pool = snapshot([*slots, *(each for each in more if each is FREE)], [*jobs, *waits], submitters=ads)
    return run_cycle(pool, bundle, Cycle(number, NOW + seconds, bundle.digest), state)


def ending(result):
    return [match.job for match in result.matches if match.preempts is not None]


@pytest.mark.parametrize("cycles", CASES.values(), ids=CASES)
def test_a_request_without_qdate_waits_since_the_first_cycle_that_left_it_without_a_slot(tmp_path, cycles):
    """Each cycle is replayed from the stored form of the state before it, to the same bytes."""
    bundle, state = bundle_of(tmp_path / "b", QUEUES, POOL), None
    for number, (seconds, waits, more, ends) in enumerate(cycles):
        result = run(bundle, seconds, waits, more, state, number)
        assert (seconds, ending(result)) == (seconds, ends)
        if state is not None:
            replayed = run(bundle, seconds, waits, more, CycleState.decode(state.encode()), number)
            assert (matched(replayed), replayed.state.encode()) == (matched(result), result.state.encode())
        state = result.state


def test_a_restart_forgets_no_time(tmp_path):
    bundle = bundle_of(tmp_path / "b", QUEUES, POOL)
    for seconds, ends in ((0, []), (30, ["1.0"])):
        jobs, slots = running("root.b", 4)
        with StateStore.open(tmp_path / "state") as store:
            manager = StateManager.begin(bundle, NOW, store)
            state, _ = manager.cycle_state(snapshot(slots, [*jobs, *A]), NOW + seconds)
            result = run(bundle, seconds, A, [], state)
            manager.adopt(result)
            assert ending(result) == ends


@pytest.mark.parametrize("forbids", [{"preemption": {"enabled": False}}, {}])
def test_nothing_is_remembered_where_no_job_is_ended(tmp_path, forbids):
    before = run(bundle_of(tmp_path / "b", QUEUES, POOL), 0, A, [], None).state
    assert before.order_rows == {"queues": {"waiting:root.a": {"h#ann@d#autocluster 3": NOW}}}
    queues = QUEUES if forbids else {path: type(each)(path) for path, each in QUEUES.items()}
    bundle = bundle_of(tmp_path / "c", queues, POOL, **forbids)
    before = before.under(bundle, NOW)
    assert run(bundle, 10, A, [], before).state.order_rows == {"queues": {}}


def test_a_queue_remembers_a_bounded_number_of_requests_those_that_wait_longest(tmp_path):
    bundle = bundle_of(tmp_path / "b", QUEUES, POOL)
    first = run(bundle, 0, request(9999, None), [], None)
    waits = [each for cluster in range(1, MAX_REQUESTS + 20) for each in request(cluster, None)]
    for seconds in (10, 20):
        first = run(bundle, seconds, [*waits, *request(9999, None)], [], first.state)
        times = first.state.order_rows["queues"]["waiting:root.a"]
        assert len(times) == MAX_REQUESTS
        assert sorted(times.values())[:2] == [NOW, NOW + 10]
        assert times["h#ann@d#cluster 9999"] == NOW


@pytest.mark.parametrize(
    ("key", "row"), [("waiting:root.a", {"x": "soon"}), ("waiting", {}), ("other", {"x": 1})]
)
def test_a_damaged_row_is_refused(key, row):
    with pytest.raises(ValueError, match="expected"):
        check_row(key, row)
    check_row("waiting:root.a", {"x": NOW})
