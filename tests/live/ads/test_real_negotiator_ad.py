"""The tools of HTCondor read the Negotiator ad of this program from a real collector."""

import itertools
import time

import pytest

from negotiator.plugin import CycleStatistics, CycleSummary
from negotiator.testing import match
from negotiator_live.ads.advertiser import Advertiser
from negotiator_live.ads.negotiator_ad import AdvertisedCycle, NegotiatedSubmitters, NegotiatorIdentity
from negotiator_live.collector import Collector
from real_sessions import by_token

IDENTITY = NegotiatorIdentity(
    name="ours", address="<127.0.0.1:9?noUDP>", started=1000.0, configured=1001.0, machine="cm.example.org"
)


def cycle(number):
    statistics = CycleStatistics(
        number=number, begun=2000.0 + number, ended=2001.0 + number, offered_slots=number
    )
    summary = CycleSummary(matches=(match(),) * number, statistics=statistics)
    return AdvertisedCycle.of(summary, NegotiatedSubmitters(names=frozenset({"ann"}), schedds=1, idle_jobs=5))


@pytest.fixture
def pool(secure_pool, tmp_path):
    """Return a pool, and the advertiser of a negotiator in it."""
    pool, address = secure_pool
    client = by_token(pool, tmp_path, "negotiator@example.org")
    advertiser = Advertiser(Collector(address, client), IDENTITY, "", lambda: 3000.0, itertools.count())
    yield pool, advertiser
    advertiser.withdraw()


def status(pool, *arguments, until=bool):
    """Return what condor_status prints, once a condition holds: a collector answers no update."""
    for _ in range(50):
        printed = pool.inside("run", "condor_status", "-negotiator", *arguments)
        if until(printed):
            return printed
        time.sleep(0.1)
    pytest.fail(printed)


def test_condor_status_prints_the_ad_and_its_last_three_cycles(pool):
    pool, advertiser = pool
    for number in range(5):
        advertiser.add_cycle(cycle(number))
    advertiser.send()
    lines = status(pool, "-long").splitlines()
    for expected in (
        'Name = "ours"',
        'Machine = "cm.example.org"',
        'MyAddress = "<127.0.0.1:9?noUDP>"',
        "DaemonStartTime = 1000",
        "LastNegotiationCycleMatches0 = 4",
        "LastNegotiationCycleMatches2 = 2",
        "LastNegotiationCycleEnd1 = 2004",
    ):
        assert expected in lines
    assert not any(line.startswith("LastNegotiationCycleMatches3") for line in lines)
    *_, row = filter(str.strip, status(pool).splitlines())
    assert row.split()[0] == "ours"


def test_the_collector_misses_no_update_and_forgets_the_ad_at_the_end(pool):
    pool, advertiser = pool
    for _ in range(3):
        advertiser.send()
    values = ("-af", "UpdateSequenceNumber", "UpdatesLost")
    assert status(pool, *values, until=lambda text: text.startswith("3")) == "3 0\n"
    advertiser.withdraw()
    assert status(pool, until=lambda text: not text) == ""


def test_who_uses_nothing_any_more_is_shown_so(pool):
    """Without another ad the collector would show the last use until the ad expires."""
    pool, advertiser = pool
    query = ("condor_status", "-any", "-constraint", 'MyType == "Accounting"', "-af", "ResourcesUsed")
    for used in (2, 0):
        account = {"Name": "ann@d", "IsAccountingGroup": False, "ResourcesUsed": used}
        advertiser.send_accounts([account], active=())
        for _ in range(50):
            if (printed := pool.inside("run", *query).split()) == [str(used)]:
                break
            time.sleep(0.1)
        assert printed == [str(used)]
