"""Strings of many ads found at once are those that are found one by one."""

from hypothesis import example, given
from hypothesis import strategies as st

from cedar import EXCHANGE, integer
from negotiator_live.wire import ad_pieces
from negotiator_live.wire.errors import DaemonError

#: Lengths at which the bytes of a length before a string have zeros at their ends.
LENGTHS = st.sampled_from([0, 1, 2, 7, 254, 255, 256, 511, 512, 65535, 65536]) | st.integers(0, 600)
TEXTS = st.builds(
    lambda length, letter: b"A = " + letter * length, LENGTHS, st.sampled_from([b"x", b"\x01", b"\xff"])
)
STRINGS = TEXTS | st.sampled_from([b"", b"ZKM", b"\x01", b"Machine"])
ADS = st.lists(st.tuples(st.lists(STRINGS, max_size=4), st.sampled_from([b"", b"Machine"])), max_size=4)


def sent(ads, *, encrypted):
    """Return an answer's bytes."""
    parts = []
    for texts, mytype in ads:
        parts += [integer(1), integer(sum(text != b"ZKM" for text in texts))]
        for text in (*texts, mytype, b""):
            parts += [integer(len(text) + 1) if encrypted else b"", text + b"\0"]
    return b"".join(parts) + integer(0)


def read(data, *, encrypted=True):
    """Return the ads of some bytes, whether they are over, and what remains; or what is wrong."""
    try:
        found = ad_pieces.AdPiece(data, EXCHANGE, encrypted=encrypted)
    except DaemonError as error:
        return str(error)
    return found.ads, found.is_over, found.rest


def read_one_by_one(data, *, encrypted=True):
    before, ad_pieces._has_marker = ad_pieces._has_marker, lambda *_: True
    try:
        return read(data, encrypted=encrypted)
    finally:
        ad_pieces._has_marker = before


@given(ADS)
@example([([b"x" * 253] * 3, b""), ([], b""), ([b"y" * 65533], b"Machine")])
def test_encrypted_ads_are_those_in_the_clear(ads):
    found = read(sent(ads, encrypted=True))
    assert found == read(sent(ads, encrypted=False), encrypted=False)
    assert found[1:] == (True, b"")
    assert found == read_one_by_one(sent(ads, encrypted=True))


@given(ADS, st.integers(0, 10**6))
def test_of_bytes_that_are_cut_the_whole_ads_are_found(ads, size):
    data = sent(ads, encrypted=True)
    data = data[: size % (len(data) + 1)]
    assert read(data) == read_one_by_one(data)


@given(
    ADS,
    st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from([0, 1, 2, 8, 255])), min_size=1, max_size=6),
)
def test_bytes_that_lie_are_read_as_one_by_one(ads, changes):
    data = bytearray(sent(ads, encrypted=True))
    for place, value in changes:
        data[place % len(data)] = value
    for encrypted in (True, False):
        assert read(bytes(data), encrypted=encrypted) == read_one_by_one(bytes(data), encrypted=encrypted)
