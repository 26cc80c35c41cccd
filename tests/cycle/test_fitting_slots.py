"""Slots that quotas refuse in any order are not sorted with the others, and decide and count the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.bundle import load_bundle
from negotiator.cycle import fitting_slots
from negotiator.cycle.charges import Charges
from negotiator.cycle.match import MatchCandidates
from pools import cycle, slot, snapshot, used, write_bundle
from queueing import LIMITED, app

RULES = (
    "limit users {*} hosts {*} to slots=2",
    "limit users {*} hosts {h0,h1} to slots=1",
    "limit users alice hosts {*} to slots=1\n   limit users {*} to slots=7",
    "limit hosts {*} to slots=3",
    "limit users {*} hosts {*} to slots=$num_proc",
)


def bundle_of(folder, *rules):
    """A limit of nine processors for each user, and a set of each of some rules."""
    write_bundle(folder)
    limit = "{limit: l, users: ['*'], maxresources: {vcore: 9}}"
    queues = LIMITED.replace("[ROOT]", f"[{limit}]").replace("[ONE]", "[]").replace(", MORE", "")
    (folder / "queues.yaml").write_text(queues, "utf-8")
    sets = [f"{{\n   name r{number}\n   {rule}\n}}\n" for number, rule in enumerate(rules)]
    if sets:
        (folder / "r.rqs").write_text("".join(sets), "utf-8")
    return load_bundle(folder)


@pytest.fixture(scope="module", params=range(len(RULES) + 2), ids=(*RULES, "two sets", "limits alone"))
def bundle(request, tmp_path_factory):
    rules = (*[(rule,) for rule in RULES], (RULES[0], RULES[3]), ())[request.param]
    loaded = bundle_of(tmp_path_factory.mktemp("quotas") / "b", *rules)
    return lambda: loaded  # hypothesis prints arguments


REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(("alice", "bob")), st.integers(1, 8), st.sampled_from((1, 2)), st.integers(0, 3)
    ),
    min_size=2,
    max_size=6,
)
RANKS = ("TARGET.Mips", "-TARGET.Mips", "TARGET.Mips % 3", "0")


def pool(requests, mips):
    slots = [
        slot(number, Machine=f'"h{number // 4}"', Mips=str(rank), num_proc="2", Cpus="2")
        for number, rank in enumerate(mips)
    ]
    jobs = [
        app(
            number,
            proc,
            Owner=f'"{user}"',
            User=f'"{user}@example.org"',
            RequestCpus=str(cpus),
            RequestMemory=str(100 + number),
            Rank=RANKS[rank],
        )
        for number, (user, count, cpus, rank) in enumerate(requests, 1)
        for proc in range(count)
    ]
    return snapshot(slots, jobs)


def decided(ads, bundle):
    result = cycle(ads, bundle)
    return repr(result.outcomes), result.journal, used(result)


@settings(max_examples=30)
@given(
    requests=REQUESTS,
    mips=st.lists(st.integers(0, 5), min_size=24, max_size=24),
    few=st.integers(1, 16),
)
def test_a_cycle_decides_as_one_that_sorts_all_candidates(bundle, requests, mips, few):
    """Matches, their order, all reasons with their counts, and the counters are those without the shortcut."""
    ads = pool(requests, mips)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting_slots, "_FEW", few)
        found = decided(ads, bundle())
        patch.setattr(Charges, "known_refusals", lambda *_: None)
        assert found == decided(ads, bundle())


@pytest.mark.parametrize("rules", [RULES[:1], ()], ids=("with a quota", "limits alone"))
def test_no_slot_is_ranked_for_a_user_who_has_reached_a_limit(tmp_path, monkeypatch, rules):
    """Of nine processors four jobs of two leave one: the second request is refused on all slots alike."""
    ranked, choose = [], MatchCandidates.choose

    def counted(self, *given):
        ranked.append(str(self.turn.ad.get("RequestMemory")))
        return choose(self, *given)

    monkeypatch.setattr(MatchCandidates, "choose", counted)
    requests = [("alice", 8, 2, 0), ("alice", 3, 2, 0)]
    result = cycle(pool(requests, np.arange(24)), bundle_of(tmp_path / "b", *rules))
    assert {match.job for match in result.matches} == {f"1.{proc}" for proc in range(4)}
    (second,) = (each for each in result.outcomes if each.request.first_job == "2.0")
    assert [(each.reason.code, each.removed) for each in second.removals][-1] == ("user_limit", 20)
    assert "101" in "".join(ranked)
    assert "102" not in "".join(ranked)
