"""No input makes a reader raise an exception."""

import gzip
import io

from hypothesis import example, given, settings
from hypothesis import strategies as st

from negotiator.classad.syntax import is_blank
from negotiator.pool import Snapshot, read_pool, reading

PIECES = (
    *(
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "\\",
        "\n",
        "=",
        ";",
        ",",
        ":",
        "<",
        ">",
        "/",
        "*",
        "\0",
        "\xe9",
        "#",
        "(",
        " ",
    ),
    *(
        "A = 1\n",
        'MyType = "Job"\n',
        '{"A": 1}',
        '"/Expr(',
        ')/"',
        "[A = 1]",
        "<classads>",
        "</classads>",
        "<c>",
        "</c>",
    ),
    *(
        '<a n="A">',
        "</a>",
        "<i>1</i>",
        "<e>",
        "</e>",
        "<l>",
        "<!DOCTYPE x>",
        "&lt;",
        "\\u0000",
        "ClusterId = 1\nProcId",
    ),
)
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
raw = st.one_of(st.binary(max_size=60), texts.map(str.encode), texts.map(lambda text: text.encode("latin-1")))


@settings(deadline=None)
@given(
    st.one_of(raw, raw.map(gzip.compress), raw.map(gzip.compress).map(lambda data: data[: len(data) // 2]))
)
@example(b"\x1f\x8b")
@example(b"\xff\xfe[\0{\0")
@example(("[" * 100_000).encode())
@example(("{" * 100_000).encode())
@example(("<c>" * 100_000).encode())
@example(("A = " + "(" * 100_000).encode())
@example(("[{'A': " + "(" * 90_000 + "1," + "),)" * 90_000 + "}]").encode())
@example(b'<classads><c><a n="A"><s>\xed\xa0\x80</s></a></c></classads>')
def test_no_input_raises(data):
    """Any bytes give a snapshot; if it has no ads, a problem says so."""
    pool = read_pool(["-"], io.BytesIO(data))
    assert isinstance(pool, Snapshot)
    ads = (
        len(pool.slots)
        + len(pool.jobs)
        + len(pool.schedds)
        + len(pool.submitters)
        + pool.private
        + pool.other
    )
    assert ads or pool.problems
    for problem in pool.problems:
        assert str(problem).encode("utf-8")
        assert problem.excerpt.isprintable()


def test_blank_text_in_small_pieces_is_examined_once(monkeypatch):
    """A compressed file may have as many members as characters; the time stays linear."""
    looked = 0

    def counted(text):
        nonlocal looked
        looked += len(text)
        return is_blank(text)

    monkeypatch.setattr(reading, "is_blank", counted)
    snapshot = read_pool(
        ["-"], io.BytesIO(gzip.compress(b"\n") * 2000 + gzip.compress(b"ClusterId = 1\nProcId = 0"))
    )
    assert len(snapshot.jobs) == 1
    assert looked < 10_000
