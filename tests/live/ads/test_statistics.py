"""The statistics of cycles in a Negotiator ad, by the definitions of HTCondor's manual."""

import os
from pathlib import Path

import pytest

from negotiator.plugin import CycleStatistics, CycleSummary
from negotiator.testing import match
from negotiator_live.ads.negotiator_ad import AdvertisedCycle, NegotiatedSubmitters, cycle_attributes

SHARED = Path(os.environ.get("NEGOTIATOR_SHARED") or Path(__file__).parents[4] / "shared")
NEGOTIATED = NegotiatedSubmitters(
    names=frozenset({"a", "b"}),
    schedds=1,
    idle_jobs=9,
    failed=("b", "a"),
    seconds=1.0,
    processor_seconds=0.25,
)
STATISTICS = CycleStatistics(
    number=7,
    begun=1000.9,
    ended=1004.9,
    cpu_seconds=0.5,
    slots=10,
    offered_slots=8,
    rejections=3,
    pies=1,
    spins=2,
    share_limited=("sue@d",),
    submitters_out_of_time=("ann@d",),
    schedds_out_of_time=("s@h",),
)


SECONDS = {
    "read": 3.0,
    "cycle": 6.0,
    "admit": 0.5,
    "place": 0.5,
    "order": 2.0,
    "match": 0.9,
    "charge": 0.1,
    "settle": 0.6,
}


def advertised(statistics=STATISTICS, seconds=None, matches=2):
    summary = CycleSummary(
        matches=tuple(match(ordinal=number) for number in range(matches)),
        statistics=statistics,
        seconds=SECONDS if seconds is None else seconds,
        processor_seconds={name: value / 8 for name, value in SECONDS.items()},
    )
    return AdvertisedCycle.of(summary, NEGOTIATED)


def test_a_cycle_has_its_numbers_under_the_names_of_the_manual():
    assert cycle_attributes([advertised()]) == {
        "LastNegotiationCycleTime0": "1000",
        "LastNegotiationCycleEnd0": "1004",
        "LastNegotiationCycleDuration0": "4",
        "LastNegotiationCyclePeriod0": "0",
        "LastNegotiationCyclePhase1Duration0": "2",
        "LastNegotiationCyclePhase2Duration0": "3",
        "LastNegotiationCyclePhase3Duration0": "2",
        "LastNegotiationCyclePhase4Duration0": "2",
        "LastNegotiationCyclePrefetchDuration0": "1",
        "LastNegotiationCyclePhase1CpuTime0": "0.125",
        "LastNegotiationCyclePhase2CpuTime0": "0.375",
        "LastNegotiationCyclePhase3CpuTime0": "0.25",
        "LastNegotiationCyclePhase4CpuTime0": "0.2",
        "LastNegotiationCyclePrefetchCpuTime0": "0.25",
        "LastNegotiationCycleCpuTime0": "0.5",
        "LastNegotiationCycleTotalSlots0": "10",
        "LastNegotiationCycleTrimmedSlots0": "8",
        "LastNegotiationCycleCandidateSlots0": "8",
        "LastNegotiationCycleSlotShareIter0": "0",
        "LastNegotiationCycleNumSchedulers0": "1",
        "LastNegotiationCycleActiveSubmitterCount0": "2",
        "LastNegotiationCycleNumIdleJobs0": "9",
        "LastNegotiationCycleNumJobsConsidered0": "5",
        "LastNegotiationCycleMatches0": "2",
        "LastNegotiationCycleRejections0": "3",
        "LastNegotiationCycleMatchRate0": "0.5",
        "LastNegotiationCycleMatchRateSustained0": "0.0",
        "LastNegotiationCyclePies0": "1",
        "LastNegotiationCyclePieSpins0": "2",
        "LastNegotiationCycleSubmittersFailed0": '"a, b"',
        "LastNegotiationCycleSubmittersOutOfTime0": '"ann@d"',
        "LastNegotiationCycleSubmittersShareLimit0": '"sue@d"',
        "LastNegotiationCycleScheddsOutOfTime0": '"s@h"',
    }


def test_the_period_is_the_time_between_the_ends_of_two_cycles():
    before = advertised(CycleStatistics(begun=980.0, ended=984.9), matches=0)
    found = cycle_attributes([advertised(), before])
    assert found["LastNegotiationCyclePeriod0"] == "20"
    assert found["LastNegotiationCycleMatchRateSustained0"] == "0.1"
    assert (found["LastNegotiationCycleEnd1"], found["LastNegotiationCyclePeriod1"]) == ("984", "0")


def test_a_clock_that_went_back_gives_no_negative_numbers():
    found = cycle_attributes([advertised(CycleStatistics(begun=10.0, ended=5.0)), advertised()])
    assert found["LastNegotiationCycleDuration0"] == "0"
    assert found["LastNegotiationCyclePeriod0"] == "0"


@pytest.mark.data
def test_all_attributes_are_those_of_a_real_negotiator():
    file = SHARED / "condor" / "ads" / "negotiator.ads"
    if not file.is_file():
        pytest.skip(f"there is no file {file}")
    names = {line.partition(" = ")[0] for line in file.read_text().splitlines()}
    assert set(cycle_attributes([advertised()])) <= names
