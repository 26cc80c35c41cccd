"""Snapshots as bytes: canonical, without loss, and refused if damaged."""

import io

import attrs
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from expressions import expressions
from negotiator.classad import Ad, Side, Table, parse, parse_old, unparse
from negotiator.classad.syntax import AdRef, Binary, Literal
from negotiator.classad.tables import AdDictionary, ByteReader, ByteWriter, DamagedDataError
from negotiator.classad.tables.serialization import MAX_NESTING, expression_of, expression_tokens
from negotiator.errors import NegotiatorError
from negotiator.pool import PoolError, Snapshot, read_pool
from negotiator.records import Problem, Severity, Source

VALUES = [
    *(
        "1",
        "1.0",
        "true",
        "(1)",
        "-1",
        "- 1",
        "undefined",
        "error",
        '"a"',
        '"A"',
        '"x\\"y"',
        '""',
        "B + 1",
        "b+1",
    ),
    *(
        "0.1",
        "-0.0",
        "1e999",
        "9007199254740993",
        "-9223372036854775808",
        "[ a = 1; A = 2; z = 0 ]",
        "MY.B",
        ".B",
    ),
    *('absTime("2026-11-21T00:00:00+02:00")', "relTime(60)", "{}", "f()", "x[1].y ?: 2", "a ? b : c"),
]
values = st.one_of(st.sampled_from(VALUES), expressions()).map(parse)
names = st.sampled_from(["A", "a", "B", "C", "Requirements", "État", "x y"])
ads = st.lists(st.lists(st.tuples(names, values), max_size=6).map(Ad), max_size=8)
problems = st.lists(
    st.builds(
        Problem,
        st.sampled_from(Severity),
        st.builds(Source, st.text("ab\udcff", max_size=3), st.integers(0, 9), st.integers(0, 9)),
        st.text("aé\n", max_size=5),
        st.just("hint"),
    ),
    max_size=3,
)


def snapshot_of(slots, jobs=(), problems=(), dictionary=None):
    """Return a snapshot of these ads."""
    tables = [Table.from_ads(given_ads, dictionary) for given_ads in ((), (), slots, jobs)]
    return Snapshot(*tables, 1, 2, tuple(problems))


def items(table):
    """Return the attributes of all ads: names, trees and the text of each tree."""
    return [[(name, expr, unparse(expr)) for name, expr in ad.items()] for ad in table.ads]


@settings(deadline=None)
@given(ads, ads, problems)
def test_a_snapshot_is_decoded_as_it_was_encoded(slots, jobs, problems):
    """The same ads with the same spelling, order and trees; the same counts and problems."""
    snapshot = snapshot_of(slots, jobs, problems, AdDictionary())
    decoded = Snapshot.decode(snapshot.encode())
    assert (items(decoded.slots), items(decoded.jobs)) == (items(snapshot.slots), items(snapshot.jobs))
    assert (decoded.private, decoded.other, decoded.problems) == (1, 2, tuple(problems))
    assert decoded.encode() == snapshot.encode()


@pytest.mark.parametrize("counts", [None, (), (1,), (0, 7)])
def test_the_numbers_of_claim_ids_are_decoded_as_they_were(counts):
    """That they are not known differs from a pool without slots; a wrong number of them is damage."""
    slots = [Ad([("Name", f"s{number}")]) for number in range(len(counts or ()))]
    snapshot = attrs.evolve(snapshot_of(slots, [], []), claim_ids=counts)
    data = snapshot.encode()
    assert Snapshot.decode(data).claim_ids == counts
    with pytest.raises(PoolError, match="numbers of claim ids"):
        Snapshot.decode(attrs.evolve(snapshot, claim_ids=(1, 2, 3)).encode())


@settings(deadline=None)
@given(ads, ads)
def test_the_bytes_depend_on_the_ads_alone(slots, others):
    """Not on what the dictionary read before, nor on whether there is one, nor on rows that were replaced."""
    used = AdDictionary()
    Table.from_ads([*others, *reversed(slots)], used)
    replaced = Table.from_ads([*others, *slots][: len(slots)], used)
    replaced.replace(range(len(slots)), slots)
    tables = [
        Table.from_ads(slots),
        Table.from_ads(slots, AdDictionary()),
        Table.from_ads(slots, used),
        replaced,
    ]
    tables.append(Table.from_ads([*others, *slots], used).take(range(len(others), len(others) + len(slots))))
    empty = Table.from_ads([])
    assert len({Snapshot(empty, empty, table, empty).encode() for table in tables}) == 1
    assert len({Snapshot(empty, empty, table, empty).digest for table in tables}) == 1


@settings(deadline=None)
@given(ads, ads)
def test_different_ads_have_different_digests(one, other):
    """Spelling, order, types and signs count."""
    same = items(Table.from_ads(one)) == items(Table.from_ads(other))
    assert (snapshot_of(one).digest == snapshot_of(other).digest) is same


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "1.0"), ("-1", "- 1"), ("0.0", "-0.0"), ("0.1", "0.10000000000000002"), ("a", "A"), ("1", '"1"')],
)
def test_values_that_print_alike_have_different_digests(one, other):
    """Each is another expression."""
    first, second = (snapshot_of([Ad([("X", parse_old(text))])]).digest for text in (one, other))
    assert first != second


def test_the_digest_is_that_of_the_bytes():
    """It is a SHA-256, and the bytes begin with the version."""
    snapshot = snapshot_of([Ad([("A", 1)])])
    assert snapshot.encode().startswith(b"negotiator-snapshot 2\n")
    assert snapshot.digest == Snapshot.decode(snapshot.encode()).digest
    assert len(snapshot.digest) == 64


def test_many_rows_are_encoded_by_column():
    """A thousand ads of several layouts, with attributes that are constant, rare, mixed or different in each."""
    rows = [
        Ad(
            [
                ("Name", f"slot{n}"),
                ("Cpus", 4),
                ("Memory", 1000.5 if n % 3 else n),
                ("Arch", "X86_64" if n % 2 else "arm"),
            ]
        )
        if n % 7
        else Ad([("cpus", 4), ("Name", "x"), ("Rare", parse(f"A + {n % 14}"))])
        for n in range(1000)
    ]
    snapshot = snapshot_of(rows, dictionary=AdDictionary())
    decoded = Snapshot.decode(snapshot.encode())
    assert items(decoded.slots) == items(snapshot.slots)
    assert (
        decoded.slots.group(["Arch", "Cpus"])[1].tolist()
        == snapshot.slots.group(["Arch", "Cpus"])[1].tolist()
    )


def test_secrets_are_never_encoded():
    """Not even of ads that no reader has read; and bytes with a secret are refused."""
    secret = Ad([("Name", "s"), ("ClaimId", "a1b2c3"), ("A", 1)])
    data = snapshot_of([secret]).encode()
    assert b"a1b2c3" not in data
    assert b"ClaimId" not in data
    with_secret = snapshot_of([secret], dictionary=AdDictionary()).encode()
    assert b"a1b2c3" in with_secret
    with pytest.raises(PoolError, match="an ad has a secret"):
        Snapshot.decode(with_secret)


def test_references_that_no_ad_can_have_are_refused():
    """An ``AdRef`` is made when an administrator's expression is bound."""
    with pytest.raises(ValueError, match="cannot hold a reference"):
        snapshot_of([Ad([("A", AdRef(Side.MY))])]).encode()


VALID = snapshot_of(
    [Ad([("A", parse(text)), ("b", number), ("C", 0.5)]) for number, text in enumerate(VALUES)],
    [Ad([("Owner", "u")])],
    [Problem(Severity.ERROR, Source("f", 1), "message")],
).encode()


@settings(deadline=None)
@example(len(VALID), b"x", 0)
@given(st.integers(0, len(VALID)), st.binary(max_size=12), st.integers(0, 12))
def test_damaged_bytes_are_refused_or_read(at, inserted, removed):
    """Whatever is changed, there is a snapshot or a NegotiatorError."""
    data = VALID[:at] + inserted + VALID[at + removed :]
    try:
        decoded = Snapshot.decode(data)
    except NegotiatorError:
        return
    assert isinstance(items(decoded.slots), list)


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_random_bytes_are_refused(data):
    """Random bytes raise nothing but a NegotiatorError."""
    for each in (data, b"negotiator-snapshot 2\n" + data):
        with pytest.raises(PoolError):
            Snapshot.decode(each)


@pytest.mark.parametrize("cut", [0, 5, 30, 100, len(VALID) - 1])
def test_truncated_bytes_are_refused(cut):
    """The message says that they are damaged, or not of this version."""
    with pytest.raises(PoolError, match=r"damaged|version"):
        Snapshot.decode(VALID[:cut])


def test_another_version_is_refused():
    """A later version may have another form."""
    with pytest.raises(PoolError, match="not a snapshot of this version"):
        Snapshot.decode(VALID.replace(b"snapshot 2\n", b"snapshot 3\n"))


@pytest.mark.parametrize(
    "tokens",
    [
        [], [""], ["x"], ["a"], ["m"], ["mX"], ["i"], ["ix"], ["i99999999999999999999"], ["i9223372036854775808"], ["rx"],
        ["2+"], ["2+", "i1"], ["2and", "i1", "i1"], ["1+"], ["1x", "i1"], ["c-1,f"], ["c9,f"], ["cx,f"], ["l1"], ["n1", "i1"],
        ["kA"], ["kA", "i1"], ["i1", "i1"], ["t1"], ["?", "t", "t"], ["(("], ["T1"], ["T1,x"], ["D"], ["?x", "t", "t", "t"],
    ],
)  # fmt: skip
def test_tokens_of_no_expression_are_refused(tokens):
    """Unknown tokens, missing operands, and tokens that are left over."""
    with pytest.raises(DamagedDataError):
        expression_of(tokens)


def test_the_nesting_of_an_expression_is_limited_but_not_the_length_of_a_chain():
    """A chain of operators may have any length; brackets are limited far above what the parser allows."""
    chain = Literal(1)
    for _ in range(3 * MAX_NESTING):
        chain = Binary("+", chain, Literal(2))
    assert expression_tokens(expression_of(expression_tokens(chain))) == expression_tokens(chain)
    with pytest.raises(DamagedDataError, match="nested too deep"):
        expression_of(["("] * (MAX_NESTING + 1) + ["t"])


@given(st.lists(st.integers(-(2**63), 2**63 - 1)), st.lists(st.text(max_size=5)))
def test_integers_and_texts_are_read_as_written(integers, texts):
    """Integers of 64 bits, and any text without NUL and without surrogates."""
    chunks = []
    writer = ByteWriter(chunks.append)
    writer.integers(np.array(integers, np.int64))
    valid = [text.replace("\0", "") for text in texts]
    writer.texts(valid)
    reader = ByteReader(b"".join(chunks))
    assert reader.integers(max_count=len(integers)).tolist() == integers
    assert reader.texts() == valid
    assert reader.left == 0


def test_a_pool_that_was_read_is_encoded():
    """Bytes that are not UTF-8, several files and problems included."""
    text = b'MyType = "Machine"\nName = "caf\xe9"\nState = "Unclaimed"\nA = (\n\nMyType = "Machine"\nName = "\xe9"\nState = "x"\n'
    pool = read_pool(["-"], io.BytesIO(text))
    decoded = Snapshot.decode(pool.encode())
    assert items(decoded.slots) == items(pool.slots)
    assert decoded.problems == pool.problems
