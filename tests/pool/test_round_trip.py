"""Ads written in any format are read back unchanged."""

import io
import json
from xml.sax.saxutils import escape, quoteattr

from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.classad import UNDEFINED, Ad, parse
from negotiator.classad.syntax import ListExpr, Literal, RecordExpr, fold
from negotiator.pool import read_ads
from negotiator.pool.secrets import is_secret

EXPRESSIONS = (
    "Cpus > 2",
    "TARGET.Memory >= RequestMemory && x",
    "{ a,1 }",
    "ifThenElse(a,b,c)",
    'x == "a b"',
    "-a ?: 1",
)

# No quotes, backslashes and line ends, which the formats escape each in its own way (tested by hand elsewhere).
strings = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters='"\\'), max_size=8
)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: (
        not is_secret(name)
        and name.lower() not in {"true", "false", "undefined", "error", "is", "isnt", "parent"}
    )
)
integers = st.integers(-(2**63), 2**63 - 1)
reals = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(
    integers, reals, st.booleans(), strings, st.none(), st.sampled_from(EXPRESSIONS).map(parse)
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(names, inner, max_size=3),
    ),
    max_leaves=6,
)
pools = st.lists(
    st.lists(st.tuples(names, values), min_size=1, max_size=6, unique_by=lambda pair: fold(pair[0])),
    max_size=4,
)


def expr(value):
    """The tree of a value."""
    if value is None:
        return Literal(UNDEFINED)
    if isinstance(value, list):
        return ListExpr(tuple(map(expr, value)))
    if isinstance(value, dict):
        return RecordExpr(tuple((name, expr(inner)) for name, inner in value.items()))
    return Literal(value) if isinstance(value, bool | int | float | str) else value


TEXTS = {parse(text): text for text in EXPRESSIONS}


def as_text(value):
    if value is None:
        return "undefined"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "{ " + ",".join(map(as_text, value)) + " }"
    if isinstance(value, dict):
        return "[ " + "; ".join(f"{name} = {as_text(inner)}" for name, inner in value.items()) + " ]"
    return repr(value) if isinstance(value, int | float) else TEXTS[value]


def as_json(value):
    if isinstance(value, list):
        return list(map(as_json, value))
    if isinstance(value, dict):
        return {name: as_json(inner) for name, inner in value.items()}
    return (
        value if value is None or isinstance(value, bool | int | float | str) else f"/Expr({TEXTS[value]})/"
    )


def as_xml(value):
    if value is None:
        return "<un/>"
    if isinstance(value, bool):
        return f'<b v="{"t" if value else "f"}"/>'
    if isinstance(value, list):
        return f"<l>{''.join(map(as_xml, value))}</l>"
    if isinstance(value, dict):
        return xml_ad(value.items())
    for kind, tag in ((int, "i"), (float, "r"), (str, "s")):
        if isinstance(value, kind):
            return f"<{tag}>{escape(str(value))}</{tag}>"
    return f"<e>{escape(TEXTS[value])}</e>"


def xml_ad(pairs):
    return "<c>" + "".join(f"<a n={quoteattr(name)}>{as_xml(value)}</a>\n" for name, value in pairs) + "</c>"


def write_long(pool):
    return "\n\n".join("\n".join(f"{name} = {as_text(value)}" for name, value in ad) for ad in pool)


def write_new(pool):
    return "\n".join(
        "[ " + ";\n ".join(f"{name} = {as_text(value)}" for name, value in ad) + " ]" for ad in pool
    )


def write_json(pool):
    return json.dumps(
        [{name: as_json(value) for name, value in ad} for ad in pool], indent=1, ensure_ascii=False
    )


def write_python(pool):
    return repr([{name: as_json(value) for name, value in ad} for ad in pool])


def write_xml(pool):
    return "<classads>\n" + "\n".join(map(xml_ad, pool)) + "\n</classads>\n"


@settings(deadline=None)
@given(pools, st.sampled_from([write_long, write_new, write_json, write_python, write_xml]))
def test_ads_are_read_as_they_were_written(pool, write):
    """Every format gives back the names, their order and the trees of every ad."""
    file = read_ads("-", io.BytesIO(write(pool).encode()))
    expected = [list(Ad([(name, expr(value)) for name, value in ad]).items()) for ad in pool]
    assert [list(ad.items()) for ad, _ in file.ads] == expected
    assert not pool or file.problems == ()
