"""Claim ids, apart from the snapshot: given out once, and never shown."""

import copy
import io
import json
import pickle

import attrs
import pytest

from negotiator.pool import ClaimVault, read_pool, read_pool_with_claims
from negotiator.pool.vault import Secret

CLAIM = r"<10.0.0.1:9618?addrs=10.0.0.1-9618>#1700000000#5#[Integrity=\"YES\";]a1b2c3"
PLAIN = CLAIM.replace("\\", "")
SLOT = 'MyType = "Machine"\nName = "slot1@a"\nMyAddress = "<1>"\nState = "Unclaimed"\n'
PRIVATE = 'MyType = "Machine"\nName = "{}"\nMyAddress = "{}"\n{} = "{}"\n'


def read(text):
    return read_pool_with_claims(["-"], io.BytesIO(text.encode()))


@pytest.fixture
def vault():
    """Return a vault with two claim ids of one slot."""
    vault = ClaimVault()
    vault.put("slot1@a", "<1>", [Secret("one"), Secret("two")])
    return vault


@pytest.mark.parametrize(
    "text",
    [
        f"{SLOT}\n{PRIVATE.format('slot1@a', '<1>', 'ClaimId', CLAIM)}",
        f"{PRIVATE.format('slot1@a', '<1>', 'Capability', CLAIM)}\n{SLOT}",
        f'{SLOT}claimid = "{CLAIM}"\n',
        json.dumps([{"MyType": "Machine", "Name": "slot1@a", "ClaimId": PLAIN}]),
        f'[ MyType = "Machine"; Name = "slot1@a"; ClaimId = "{CLAIM}" ]',
        (
            '<classads><c><a n="MyType"><s>Machine</s></a><a n="Name"><s>slot1@a</s></a>'
            f'<a n="ClaimId"><s>{PLAIN.replace("<", "&lt;")}</s></a></c></classads>'
        ),
    ],
)
def test_claim_ids_are_read_from_ads_of_every_format(text):
    """From private ads, which have the name of the slot, and from the slot ads themselves."""
    _, vault = read(text)
    assert len(vault) == 1
    assert vault.take("slot1@a") == PLAIN


def test_a_snapshot_has_the_number_of_claim_ids_of_each_slot():
    """They are not known without private ads; a slot of a machine without any counts as having one."""
    other = SLOT.replace("slot1", "slot2")
    others = other, PRIVATE.format("slot1@a", "<1>", "ClaimIdList", "a#b, c#d"), other.replace("<1>", "<2>")
    snapshot, _ = read("\n".join([SLOT, *others]))
    assert snapshot.claim_ids == (2, 0, 1)
    assert read(SLOT)[0].claim_ids is read(f'{SLOT}ClaimId = "{CLAIM}"\n')[0].claim_ids is None


def test_a_slot_with_a_list_of_claim_ids_has_these_alone():
    """A startd revokes the ClaimId of a slot with a consumption policy as soon as one of the list is used."""
    listed = PRIVATE.format("slot1@a", "<1>", "ClaimIdList", " a#b c#d")
    both = listed.replace("ClaimIdList", f'ClaimId = "{CLAIM}"\nClaimIdList')
    snapshot, vault = read(f"{SLOT}\n{both}")
    assert snapshot.claim_ids == (2,)
    assert [vault.take("slot1@a") for _ in range(3)] == ["a#b", "c#d", None]


def test_a_claim_id_is_given_out_once(vault):
    """A slot may have several claim ids; each is removed when it is taken."""
    assert [vault.take("slot1@a") for _ in range(3)] == ["one", "two", None]
    assert vault.take("slot2@a") is None


def test_claim_ids_can_be_dropped(vault):
    """Those of one slot, or all."""
    vault.put("slot2@a", "<1>", [Secret("three")])
    vault.put("slot3@a", "<1>", [Secret("four")])
    vault.drop("slot1@a")
    vault.drop("slot2@a", "<2>")
    vault.drop("slot4@a")
    assert len(vault) == 2
    vault.drop("slot2@a", "<1>")
    assert vault.take("slot2@a") is None
    vault.clear()
    assert vault.take("slot3@a") is None


def test_slots_of_one_name_at_several_startds_are_distinguished_by_address(vault):
    """Without an address the claim id of the wrong machine could be given out, so none is."""
    vault.put("slot1@a", "<2>", [Secret("three")])
    assert vault.take("slot1@a") is None
    assert vault.take("slot1@a", "<2>") == "three"
    assert vault.take("slot1@a", "<1>") == "one"


@pytest.mark.parametrize("listed", ["one, two", " one two", "one,one two"])
def test_a_list_of_claim_ids_is_taken_one_by_one(listed):
    """``ClaimIdList`` holds one claim id for each match that a slot can take."""
    _, vault = read(PRIVATE.format("slot1@a", "<1>", "ClaimIdList", listed))
    assert [vault.take("slot1@a") for _ in range(3)] == ["one", "two", None]


@pytest.mark.parametrize("private_first", [True, False])
def test_the_claim_ids_of_the_private_ad_count_before_those_of_the_slot_ad(private_first):
    """Whichever of the two ads is read first."""
    ads = [PRIVATE.format("slot1@a", "<1>", "ClaimId", "private"), f'{SLOT}ClaimId = "public"\n']
    _, vault = read("\n".join(ads if private_first else ads[::-1]))
    assert [vault.take("slot1@a"), vault.take("slot1@a")] == ["private", None]


def test_of_two_private_ads_of_a_slot_the_later_counts():
    """As with all ads."""
    text = (
        PRIVATE.format("slot1@a", "<1>", "ClaimId", "old")
        + "\n"
        + PRIVATE.format("slot1@a", "<1>", "ClaimId", "new")
    )
    _, vault = read(text)
    assert [vault.take("slot1@a"), vault.take("slot1@a")] == ["new", None]


@pytest.mark.parametrize(
    "line", ['ClaimId = strcat("a", "b")', "ClaimId = 5", 'ClaimId = "a', "ClaimId", 'ClaimId = ""']
)
def test_other_values_are_not_claim_ids(line):
    """Only a string is one."""
    _, vault = read(f"{SLOT}{line}\n")
    assert len(vault) == 0


def test_the_snapshot_is_that_of_a_reader_without_a_vault():
    """It has no secrets, neither in its tables nor in its encoding."""
    text = f'{SLOT}ClaimId = "{CLAIM}"\n\n{PRIVATE.format("slot1@a", "<1>", "ClaimId", CLAIM)}'
    snapshot, _ = read(text)
    without = read_pool(["-"], io.BytesIO(text.encode()))
    assert snapshot.encode() == without.encode()
    assert b"a1b2c3" not in snapshot.encode()
    assert "claimid" not in snapshot.slots.names()


def test_a_vault_shows_only_how_many_claim_ids_it_has(vault):
    """In messages, logs and tracebacks."""
    assert repr(vault) == str(vault) == f"{vault}" == "<ClaimVault of 2 claim ids>"
    assert repr(Secret("one")) == str(Secret("one")) == "<Secret>"


@pytest.mark.parametrize(
    "dump",
    [
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        json.dumps,
        list,
        vars,
        attrs.asdict,
        lambda vault: vault["slot1@a"],
    ],
)
def test_a_vault_cannot_be_copied_serialised_or_iterated_over(vault, dump):
    """Nor can a single secret."""
    with pytest.raises((TypeError, attrs.exceptions.NotAnAttrsClassError)):
        dump(vault)
    with pytest.raises((TypeError, attrs.exceptions.NotAnAttrsClassError)):
        dump(Secret("one"))


def test_a_claim_id_that_was_taken_counts_as_the_slots_until_new_ones_are_stored(vault):
    before = vault.public_parts("slot1@a")
    vault.take("slot1@a", None, "1.1")
    assert vault.public_parts("slot1@a") == before
    claim = vault.taken("1.1")
    assert (claim in before, vault.taken("1.1")) == (True, None)
    vault.put("slot1@a", "<1>", [Secret("new")])
    assert vault.public_parts("slot1@a") == {Secret("new").public_part}


@pytest.mark.parametrize(
    ("claim", "public"),
    [
        ('<1.2.3.4:9618>#1795754642#4#[Encryption="YES";]c0ffee', "<1.2.3.4:9618>#1795754642#4#..."),
        ("<1.2.3.4:9618?alias=a#b>#1#2#c0ffee", "<1.2.3.4:9618?alias=a#b>#1#2#..."),
    ],
)
def test_the_public_part_of_a_claim_id_is_what_its_slot_publishes(claim, public):
    """``PublicClaimId``, as condor_startd 25.14.1 writes it: up to the last ``#``."""
    assert Secret(claim).public_part == public


@pytest.mark.parametrize(
    "claim", ["c0ffee", "#c0ffee", "", "c0ffee#", "<1.2.3.4:9618>#1#2#c0ffee#", "<1.2.3.4:9618>#1#[c0ffee#]#"]
)
def test_a_claim_id_without_a_public_part_is_known_by_a_digest(claim):
    found = Secret(claim).public_part
    assert found.startswith("sha256:")
    assert "c0ffee" not in found
    assert found != Secret("another").public_part
