"""Which accounts have an Accounting ad, and what it has."""

from negotiator_live.ads.accounting_ads import accounting_ads

GROUP = {"Name": "<none>", "IsAccountingGroup": True, "ResourcesUsed": 0, "Priority": 500.0}
USER = {"Name": "ann@d", "IsAccountingGroup": False, "ResourcesUsed": 0, "AccountingGroup": "<none>"}


def sent(*accounts, active=()):
    return list(accounting_ads(accounts, active, "ours", 3))


def test_a_group_always_has_an_ad_with_the_name_of_the_negotiator():
    (ad,) = sent(GROUP)
    assert ad.pop("DaemonStartTime").isdecimal()
    assert ad == {
        "MyType": '"Accounting"',
        "Name": '"<none>"',
        "NegotiatorName": '"ours"',
        "IsAccountingGroup": "true",
        "AccountingGroup": '"<none>"',
        "ResourcesUsed": "0",
        "AccumulatedUsage": "0.0",
        "WeightedAccumulatedUsage": "0.0",
        "BeginUsageTime": "0",
        "LastUsageTime": "0",
        "Priority": "500.0",
        "UpdateSequenceNumber": "3",
    }


def test_a_group_is_in_the_group_above_it():
    """And has nothing that only submitters have."""
    groups = [{**GROUP, "Name": name, "AccountingGroup": name, "Ceiling": -1} for name in ("a", "a.b.c", "d")]
    found = {ad["Name"]: (ad["AccountingGroup"], "Ceiling" in ad) for ad in sent(*groups)}
    assert found == {'"a"': ('"<none>"', False), '"a.b.c"': ('"a"', False), '"d"': ('"<none>"', False)}


def test_a_submitter_has_one_if_it_uses_slots_or_has_idle_jobs():
    assert sent(USER) == []
    assert len(sent(USER, active=["ann@d"])) == 1
    assert len(sent({**USER, "ResourcesUsed": 2})) == 1


def test_a_user_without_any_use_yet_has_no_times():
    """Otherwise condor_userprio -all would leave out who was matched for the first time."""
    (ad,) = sent({**USER, "ResourcesUsed": 2, "BeginUsageTime": 0, "LastUsageTime": 0, "Ceiling": 0})
    assert not {"BeginUsageTime", "LastUsageTime"} & ad.keys()
    assert ad["Ceiling"] == "0"
