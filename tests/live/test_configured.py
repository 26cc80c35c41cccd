"""Settings of the pool in the environment, as defaults of ``htcondor:`` in ``pool.yaml``."""

import pytest

from negotiator_live.configured import SETTINGS, allowed_users
from negotiator_live.security.policy import Requirement
from negotiator_live.settings import CondorPool, Method


@pytest.mark.parametrize(
    ("allowed", "denied", "users"),
    [
        ("root@*, condor@*", "", ("root@*", "condor@*")),
        ("condor@example.org  *@example.org", "", ("condor@example.org", "*@example.org")),
        ("boss@example.org/*", "", ("boss@example.org",)),
        ("*", "", ("*",)),
        ("boss@example.org/10.0.0.1, 10.0.0.2, cm.example.org, */cm.example.org", "", ()),
        ("root@*, condor@*", "mallory@example.org", ()),
        ("", "", ()),
    ],
)
def test_users_that_the_pool_lets_in_from_all_hosts_are_administrators(monkeypatch, allowed, denied, users):
    """Nobody gets more than in the pool: entries with hosts, and denials, have no equivalent here."""
    monkeypatch.setenv("_CONDOR_ALLOW_ADMINISTRATOR", allowed)
    monkeypatch.setenv("_CONDOR_DENY_ADMINISTRATOR", denied)
    assert allowed_users("ADMINISTRATOR") == users
    assert CondorPool().administrators == users


@pytest.mark.parametrize(
    ("client", "default", "expected"),
    [
        (None, None, Requirement.OPTIONAL),
        (None, "required", Requirement.REQUIRED),
        ("PREFERRED", None, Requirement.PREFERRED),
        ("OPTIONAL", "REQUIRED", Requirement.REQUIRED),
        ("REQUIRED", "NEVER", Requirement.REQUIRED),
        ("never", "No", Requirement.NEVER),
        ("Yes", "", Requirement.REQUIRED),
        ("what", None, Requirement.REQUIRED),
    ],
)
@pytest.mark.parametrize("feature", ["authentication", "encryption", "integrity"])
def test_a_feature_is_wanted_as_the_stricter_of_two_settings_says(
    monkeypatch, feature, client, default, expected
):
    for role, text in (("CLIENT", client), ("DEFAULT", default)):
        if text is not None:
            monkeypatch.setenv(f"_CONDOR_SEC_{role}_{feature.upper()}", text)
    assert getattr(CondorPool(), feature) is expected


@pytest.mark.parametrize(
    ("client", "default", "expected"),
    [
        ("", "", (Method.FS, Method.IDTOKENS)),
        ("", "FS, IDTOKENS", (Method.FS, Method.IDTOKENS)),
        ("", "token,fs", (Method.IDTOKENS, Method.FS)),
        ("IDTOKENS", "FS, TOKENS, SSL", (Method.IDTOKENS,)),
        ("", "SSL, KERBEROS", ()),
        ("CLAIMTOBE, FS", "", (Method.FS,)),
    ],
)
def test_methods_are_those_of_the_pool_that_this_program_has_and_that_prove_something(
    monkeypatch, client, default, expected
):
    monkeypatch.setenv("_CONDOR_SEC_CLIENT_AUTHENTICATION_METHODS", client)
    monkeypatch.setenv("_CONDOR_SEC_DEFAULT_AUTHENTICATION_METHODS", default)
    assert CondorPool().methods == expected


def test_the_bundle_has_precedence(monkeypatch):
    for name in SETTINGS:
        monkeypatch.setenv(f"_CONDOR_{name}", "REQUIRED")
    given = {
        "collector": "a.org:9618",
        "administrators": (),
        "uid_domain": "a.org",
        "trust_domain": "b.org",
        "authentication": Requirement.NEVER,
        "encryption": Requirement.OPTIONAL,
        "integrity": Requirement.PREFERRED,
        "methods": (Method.CLAIMTOBE,),
    }
    pool = CondorPool(**given)
    assert {name: getattr(pool, name) for name in given} == given
    assert str(pool.address) == "<a.org:9618>"
