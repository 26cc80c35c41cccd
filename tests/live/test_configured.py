"""Settings of the pool in the environment, as defaults of ``htcondor:`` in ``pool.yaml``."""

import pytest

from negotiator_live.configured import allowed_users
from negotiator_live.settings import CondorPool


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


def test_the_bundle_has_precedence(monkeypatch):
    for name in ("ALLOW_ADMINISTRATOR", "UID_DOMAIN", "TRUST_DOMAIN"):
        monkeypatch.setenv(f"_CONDOR_{name}", "*")
    pool = CondorPool(administrators=(), uid_domain="a.org", trust_domain="b.org")
    assert (pool.administrators, pool.uid_domain, pool.trust_domain) == ((), "a.org", "b.org")
