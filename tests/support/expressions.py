"""Strategies for random expressions and ads as text."""

from hypothesis import strategies as st

from parses import parses
from signatures import any_call

NAMES = ("A", "B", "C", "D", "s", "Flag", "Nested", "L", "Both", "OnlyMine", "OnlyOther", "nosuch")
SCOPES = ("", "", "", "MY.", "TARGET.", "TARGET.", "other.", "self.", "parent.", ".", "LEFT.", "MY.TARGET.")
BINARY = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    ">>>",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "=?=",
    "=!=",
    "&&",
    "||",
    "&&",
    "||",
]

integers = st.one_of(
    st.integers(-3, 70), st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1, -(2**31), 2**31, 2**32])
)
reals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from([0.0, -0.0, 0.5, 1e308, -1e308, 2.0]),
)
strings = st.text(st.sampled_from("aAbB_10 ,.*é"), max_size=4)


def _real(number):
    text = f"{number:.17E}"
    return f"({text})" if text.startswith("-") else text


literals = st.one_of(
    integers.map(lambda n: f"({n})" if n < 0 else str(n)),
    reals.map(_real),
    strings.map(lambda text: f'"{text}"'),
    st.sampled_from(["true", "false", "undefined", "error", 'real("NaN")', 'real("-INF")', "relTime(60)"]),
)
references = st.builds("{}{}".format, st.sampled_from(SCOPES), st.sampled_from(NAMES))
FAILING = ("random(0)", "absTime(A, -1)", "{random(0)}[0]")
"""Expressions whose evaluation fails: an expression that needs their value has none, not even error."""

odd = st.sampled_from(
    [
        *FAILING,
        'split("a,B")',
        'splitUserName("u@h")',
        'Nested["y"]',
        'relTime("1:30.5")',
        "relTime(90.5)",
        "{L.q}",
        "L.q",
        "-07",
        "0x1F.8",
    ]
)
leaves = st.one_of(literals, literals, references, references, references, references, odd)


def expressions(*, calls=True, max_leaves=12):
    """Return a strategy for expressions with every operand in parentheses, so that precedence does not matter."""

    def grow(children):
        part = children.map(lambda text: text if text.isalpha() else f"({text})")
        shapes = [
            st.builds("{} {} {}".format, part, st.sampled_from(BINARY), part),
            st.builds("{} {} {}".format, part, st.sampled_from(BINARY), part),
            st.builds("{}{}".format, st.sampled_from(["!", "-", "+", "~"]), part),
            st.builds("{} ? {} : {}".format, part, part, part),
            st.builds("{} ?: {}".format, part, part),
            st.builds("{}.{}".format, part, st.sampled_from(NAMES)),
            st.builds("{{{}, {}}}".format, children, children),
            st.builds("[A = {}; x = {}]".format, children, children),
            st.builds("{}[{}]".format, part, st.integers(-1, 2)),
        ]
        if calls:
            shapes += [any_call(children, references)] * 6
            shapes += [
                st.builds("evalInEachContext({}, {})".format, children, children),
                st.builds("countMatches({}, L)".format, children),
            ]
        return st.one_of(shapes)

    # A call such as relTime("x") is an invalid literal, so the text is not an expression.
    return st.recursive(leaves, grow, max_leaves=max_leaves).filter(parses)


def ads(own):
    """Return a strategy for ads whose attributes refer to each other, also in circles. Only this ad has ``own``."""
    part = expressions(calls=False, max_leaves=4)
    values = st.one_of(literals, literals, part)
    attributes = {
        "A": values,
        "B": values,
        "C": part,
        "D": part,
        "s": strings.map(lambda text: f'"{text}"'),
        "Flag": st.sampled_from(["true", "false", "undefined", "error"]),
        "Nested": st.builds("[A = {}; x = A; y = {}; z = parent.B]".format, leaves, part),
        "L": st.builds("{{{}, [A = {}; q = B], [B = {}], A}}".format, leaves, leaves, leaves),
        "Both": references,
        own: values,
    }
    chosen = st.fixed_dictionaries({}, optional=attributes)
    return chosen.map(lambda ad: "[" + "; ".join(f"{name} = {text}" for name, text in ad.items()) + "]")
