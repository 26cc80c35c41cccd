"""The Negotiator ad: its attributes are those of condor_negotiator, and the documentation says where each comes from."""

import itertools
from pathlib import Path

import attrs
import pytest

from negotiator.plugin import CycleStatistics, CycleSummary
from negotiator_live.ads.advertiser import Advertiser
from negotiator_live.ads.negotiator_ad import (
    ATTRIBUTES,
    CYCLE_ATTRIBUTES,
    AdvertisedCycle,
    NegotiatedSubmitters,
    NegotiatorIdentity,
    address_v1,
)

PAGE = Path(__file__).parents[3] / "docs" / "live-pool.md"
#: Those of condor_negotiator 25.14, without the ones that the collector adds.
REAL = frozenset(
    [
        "AddressV1",
        "CondorPlatform",
        "CondorVersion",
        "DaemonCoreDutyCycle",
        "DaemonLastReconfigTime",
        "DaemonStartTime",
        "DetectedCpus",
        "DetectedMemory",
        "Machine",
        "MonitorSelfAge",
        "MonitorSelfCPUUsage",
        "MonitorSelfImageSize",
        "MonitorSelfRegisteredSocketCount",
        "MonitorSelfResidentSetSize",
        "MonitorSelfSecuritySessions",
        "MonitorSelfTime",
        "MyAddress",
        "MyCurrentTime",
        "MyType",
        "Name",
        "NegotiatorIpAddr",
        "PrivateNetworkName",
        "RealUid",
        "RecentDaemonCoreDutyCycle",
        "UpdateSequenceNumber",
    ]
)
REAL_OF_CYCLES = frozenset(
    [
        "ActiveSubmitterCount",
        "CandidateSlots",
        "CpuTime",
        "Duration",
        "End",
        "MatchRate",
        "MatchRateSustained",
        "Matches",
        "NumIdleJobs",
        "NumJobsConsidered",
        "NumSchedulers",
        "Period",
        "Phase1CpuTime",
        "Phase1Duration",
        "Phase2CpuTime",
        "Phase2Duration",
        "Phase3CpuTime",
        "Phase3Duration",
        "Phase4CpuTime",
        "Phase4Duration",
        "PieSpins",
        "Pies",
        "PrefetchCpuTime",
        "PrefetchDuration",
        "Rejections",
        "ScheddsOutOfTime",
        "SlotShareIter",
        "SubmittersFailed",
        "SubmittersOutOfTime",
        "SubmittersShareLimit",
        "Time",
        "TotalSlots",
        "TrimmedSlots",
    ]
)


def cycle(begun, ended):
    statistics = CycleStatistics(begun=begun, ended=ended)
    return AdvertisedCycle.of(CycleSummary(statistics=statistics), NegotiatedSubmitters())


@attrs.define
class NotingCollector:
    """Notes the ads that are sent."""

    ads: list = attrs.field(factory=list)

    def update(self, _command, ad):
        self.ads.append(ad)


def sent(cycles, now, **more):
    """Return the ad that is sent after cycles, each a beginning and an end in seconds after the start."""
    identity = NegotiatorIdentity(
        name="n", address="<10.0.0.1:9?noUDP>", started=0.0, configured=0.0, machine="h"
    )
    collector = NotingCollector()
    advertiser = Advertiser(collector, identity, "", lambda: now, itertools.count(), **more)
    for each in cycles:
        advertiser.add_cycle(cycle(*each))
    advertiser.send()
    return collector.ads[-1]


def test_it_has_the_attributes_of_condor_negotiators():
    ad = sent([(1, 2)], 10.0)
    prefix = "LastNegotiationCycle"
    assert {name for name in ad if not name.startswith(prefix)} == REAL == ATTRIBUTES.keys()
    of_cycle = {name.removeprefix(prefix).removesuffix("0") for name in ad if name.startswith(prefix)}
    assert of_cycle == REAL_OF_CYCLES == CYCLE_ATTRIBUTES.keys()


def rows(table):
    """Return the rows of a table; names without a text have that of the name before."""
    found = []
    for name, text in table.items():
        if text:
            found.append([[f"`{name}`"], text])
        else:
            found[-1][0].append(f"`{name}`")
    return [f"| {', '.join(names)} | {text} |" for names, text in found]


@pytest.mark.parametrize("table", [ATTRIBUTES, CYCLE_ATTRIBUTES])
def test_the_documentation_says_where_each_comes_from(table):
    assert "\n".join(rows(table)) in PAGE.read_text()


@pytest.mark.parametrize(
    ("cycles", "now", "duty", "recent"),
    [
        ([], 100.0, "0.0", "0.0"),
        ([(0, 25)], 100.0, "0.25", "0.25"),
        ([(0, 600), (2400, 2700)], 3000.0, "0.3", "0.25"),
    ],
)
def test_the_duty_cycle_is_the_share_of_the_time_in_cycles(cycles, now, duty, recent):
    ad = sent(cycles, now)
    assert (ad["DaemonCoreDutyCycle"], ad["RecentDaemonCoreDutyCycle"]) == (duty, recent)


def test_the_first_ad_has_number_1_and_the_sessions_are_counted():
    ad = sent([], 10.0, sessions=lambda: 7)
    assert (ad["UpdateSequenceNumber"], ad["MonitorSelfSecuritySessions"]) == ("1", "7")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("<10.0.0.1:9?noUDP>", '{[ p="primary"; a="10.0.0.1"; port=9; n="Internet"; noUDP=true; ]}'),
        (
            "<10.0.0.1:9618?addrs=10.0.0.1-9618+[fe80--1]-9618&alias=h.d&noUDP&sock=negotiator_1>",
            "{{{}}}".format(
                ", ".join(
                    f'[ p="{kind}"; a="{host}"; port=9618; n="Internet"; alias="h.d"; spid="negotiator_1"; noUDP=true; ]'
                    for kind, host in (("primary", "10.0.0.1"), ("IPv4", "10.0.0.1"), ("IPv6", "fe80::1"))
                )
            ),
        ),
        ("<10.0.0.1:0?noUDP>", "{}"),
    ],
)
def test_the_other_form_of_an_address_has_the_same(address, expected):
    assert address_v1(address) == expected
