"""What the pool's own configuration decides for this daemon where ``htcondor:`` in ``pool.yaml`` has no key."""

import pytest

from negotiator_live.configured import PoolConfiguration
from negotiator_live.security.policy import AuthMethod, Requirement
from negotiator_live.security.server.peer import Level
from negotiator_live.settings import CondorPool, ConfiguredPool, Method
from negotiator_live.wire.addresses import AddressError

REQUIRED, OPTIONAL = Requirement.REQUIRED, Requirement.OPTIONAL


def pool(keys=None, **values):
    """Return a pool with these keys of ``htcondor:``, and these settings in its own configuration."""
    return ConfiguredPool(CondorPool(**keys or {}), PoolConfiguration(values))


@pytest.mark.parametrize(
    ("level", "values", "expected"),
    [
        ("CLIENT", {}, OPTIONAL),
        ("CLIENT", {"DEFAULT": "required"}, REQUIRED),
        ("CLIENT", {"CLIENT": "OPTIONAL", "DEFAULT": "REQUIRED"}, OPTIONAL),
        (Level.READ, {"CLIENT": "NEVER", "READ": "OPTIONAL", "DEFAULT": "REQUIRED"}, OPTIONAL),
        (Level.ADMINISTRATOR, {"READ": "OPTIONAL", "DEFAULT": "REQUIRED"}, REQUIRED),
        (Level.ADVERTISE_SCHEDD, {"DAEMON": "REQUIRED", "DEFAULT": "NEVER"}, REQUIRED),
        (Level.READ, {"READ": "Yes"}, REQUIRED),
        (Level.READ, {"READ": "what"}, REQUIRED),
        (Level.READ, {"READ": "No"}, Requirement.NEVER),
        (Level.READ, {"READ": "preferred"}, Requirement.PREFERRED),
    ],
)
@pytest.mark.parametrize("feature", ["AUTHENTICATION", "ENCRYPTION", "INTEGRITY"])
def test_a_feature_is_wanted_as_the_setting_of_its_level_or_the_default_says(
    level, values, expected, feature
):
    found = pool(**{f"SEC_{name}_{feature}": text for name, text in values.items()}, UID_DOMAIN="a.org")
    index = ["AUTHENTICATION", "ENCRYPTION", "INTEGRITY"].index(feature)
    assert found.requirements(level)[index] is expected


@pytest.mark.parametrize(
    ("client", "default", "expected"),
    [
        ("", "", ("FS", "IDTOKENS")),
        ("", "FS, IDTOKENS", ("FS", "IDTOKENS")),
        ("", "token,fs", ("IDTOKENS", "FS")),
        ("IDTOKENS", "FS, TOKENS, SSL", ("IDTOKENS",)),
        ("", "SSL, KERBEROS", ()),
        ("CLAIMTOBE, FS", "", ("FS",)),
    ],
)
def test_methods_are_those_of_the_pool_that_this_program_has_and_that_prove_something(
    client, default, expected
):
    found = pool(SEC_CLIENT_AUTHENTICATION_METHODS=client, SEC_DEFAULT_AUTHENTICATION_METHODS=default)
    assert found.methods("CLIENT") == tuple(AuthMethod[each] for each in expected)


def test_a_key_of_pool_yaml_has_precedence():
    values = dict.fromkeys(
        ("COLLECTOR_HOST", "UID_DOMAIN", "TRUST_DOMAIN", "ALLOW_ADMINISTRATOR", "SEC_DEFAULT_ENCRYPTION"),
        "REQUIRED",
    )
    keys = {
        "collector": "a.org:9618",
        "administrators": (),
        "uid_domain": "b.org",
        "trust_domain": "c.org",
        "encryption": OPTIONAL,
        "methods": (Method.CLAIMTOBE,),
    }
    found = pool(keys, **values)
    assert str(found.find_collector()) == "<a.org:9618>"
    assert (found.uid_domain, found.trust_domain) == ("b.org", "c.org")
    assert found.requirements("CLIENT") == (OPTIONAL, OPTIONAL, OPTIONAL)
    assert found.methods(Level.READ) == (AuthMethod.CLAIMTOBE,)
    assert not found.authorization.allows("REQUIRED@a", "REQUIRED", Level.ADMINISTRATOR)


def test_without_a_pool_the_environment_names_the_collector(monkeypatch):
    monkeypatch.setenv("_CONDOR_COLLECTOR_HOST", "cm.example.org:9620")
    assert str(pool().find_collector()) == "<cm.example.org:9620>"
    assert str(pool(COLLECTOR_HOST="other.org").find_collector()) == "<other.org:9618>"


def test_of_several_collectors_the_first_counts():
    assert str(pool(COLLECTOR_HOST="a.org:9620, b.org").find_collector()) == "<a.org:9620>"


@pytest.mark.parametrize("host", ["127.0.0.1:0", "[::1]:0", "cm.example.org:0?sock=collector"])
def test_a_collector_at_port_0_is_where_its_address_file_says_at_present(tmp_path, host):
    """It may start later, and again at another port."""
    file = tmp_path / ".collector_address"
    found = pool(COLLECTOR_HOST=host, COLLECTOR_ADDRESS_FILE=str(file))
    with pytest.raises(AddressError, match="the collector has not written its address: No such file"):
        found.find_collector()
    for port in (40001, 40002):
        file.write_text(f"<127.0.0.1:{port}?alias=cm>\n$CondorVersion: 25.14 $\n")
        assert found.find_collector().primary.port == port
    file.write_text("")
    with pytest.raises(AddressError):
        found.find_collector()


def test_port_0_without_an_address_file_is_an_error():
    with pytest.raises(AddressError, match="port 0, and no COLLECTOR_ADDRESS_FILE has the port"):
        pool(COLLECTOR_HOST="127.0.0.1:0").find_collector()
