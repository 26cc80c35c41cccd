"""YAML texts of values, and what YAML 1.2 reads in them."""

import json

from hypothesis import strategies as st

from negotiator.bundle.json_schema import plain_value
from negotiator.bundle.text import BadNode, ListNode, MapNode, Style

#: Scalars as people write them.
SCALARS = st.one_of(
    st.sampled_from(
        [
            "",
            "~",
            "null",
            "true",
            "False",
            "0",
            "-3",
            "1.5",
            "1e3",
            "010",
            "on",
            "10:30",
            "x",
            "MY.Owner",
            "2026-01-02",
            "~x",
        ]
    ),
    st.sampled_from(['""', "''", "'  '", '"5"', "'true'", "'a b'", "'TARGET.Memory > 1'", "'('"]),
    st.integers(-(2**70), 2**70).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(str),
)


def plain(node):
    """Return what YAML 1.2 reads for a node of a file, as an editor validates it."""
    if isinstance(node, MapNode):
        return {name: plain(entry.value) for name, entry in node.entries.items()}
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    if isinstance(node, BadNode):
        return None
    return plain_value(node.value.text) if node.style is Style.PLAIN else node.value.text


def mapping_text(entries):
    """Return a mapping of texts, each YAML itself, as YAML in one line."""
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in entries.items()) + "}"


def list_text(items):
    """Return a list of texts, each YAML itself, as YAML in one line."""
    return "[" + ", ".join(items) + "]"


#: Any value.
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(list_text),
        st.dictionaries(st.sampled_from(["a", "name", "source", "5"]), inner, max_size=3).map(mapping_text),
    ),
    max_leaves=6,
)
