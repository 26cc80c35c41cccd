"""The page about placement has the result of every published example; here they are run as printed."""

import pytest

from negotiator.bundle import load_bundle
from queue_pages import PAGES, cells, folder_of, names, pieces, placed

CLASSIC = "plugins:\n  modules: [negotiator_placement_classic]\n"
HEAD = ["example", "user", "groups", "asks for", "tag", "in the document", "here", "codes", "why"]

#: The queues of the page, for examples that are printed without queues.
QUEUES = next(text for kind, text in pieces(PAGES["placement"]) if kind == "yaml").partition(
    "    placementrules:"
)[0]

_COMPLEX_1 = """
- name: user
  create: true
  filter:
    type: allow
    groups:
      - dev*
  parent:
    name: tag
    value: namespace
- name: tag
  value: namespace
  create: true
  parent:
    name: fixed
    value: root.namespaces
  filter:
    type: allow
    users:
      - john
- name: fixed
  value: root.default
"""
_USER_NAME_1 = "{name: UserName, parent: root.fixedparent}"
_USER_NAME_2 = "{name: UserName, parent: SecondaryGroup, filter: {type: allow, groups: company.*}}"

#: The rules of the examples, as printed, or with the one change that the page describes.
RULES = {
    "provided": "- {name: provided, create: true, parent: {name: user, create: true}}",
    "user": "- {name: user, create: false}",
    "fixed": "- {name: fixed, value: last_resort}",
    "tag": "- {name: tag, value: namespace, create: true}",
    "complex 1": _COMPLEX_1,
    "complex 1, create": _COMPLEX_1.replace(
        "    value: namespace\n", "    value: namespace\n    create: true\n", 1
    ),
    "UserName 1": f"- {_USER_NAME_1}",
    "UserName 1, create": f"- {_USER_NAME_1.replace('parent', 'create: true, parent', 1)}",
    "UserName 2": f"- {_USER_NAME_2}",
    "UserName 2, create": f"- {_USER_NAME_2.replace('parent', 'create: true, parent', 1)}",
    "UserName 3": "- {name: UserName, filter: {users: 'user2,user3'}}",
}

_PRODUCTION = "{name: production, submitacl: 'john,bob'}"
_FIXED, _USER = "{name: fixed, value: root.production}", "{name: user, create: true}"

#: The second complex example with its queues: as printed, and the two attempts to mend it.
PARTITIONS = {
    "complex 2": ("- " + _PRODUCTION, [_FIXED, _USER]),
    "complex 2, open root": (f"- {{name: root, submitacl: '*', queues: [{_PRODUCTION}]}}", [_FIXED, _USER]),
    "complex 2, open parent": (
        f"- {_PRODUCTION}\n- {{name: users, parent: true, submitacl: '*'}}",
        [_FIXED, "{name: user, create: true, parent: {name: fixed, value: root.users}}"],
    ),
}

(TABLE,) = (
    cells(piece)[1:]
    for kind, piece in pieces(PAGES["placement"])
    if kind == "table" and cells(piece)[0] == HEAD
)


def indented(text, by):
    return "".join(f"{' ' * by}{line}\n" for line in text.strip().splitlines())


def configuration(example):
    """Return the ``queues.yaml`` of an example."""
    if example in RULES:
        return f"{QUEUES}    placementrules:\n{indented(RULES[example], 6)}"
    queues, rules = PARTITIONS[example]
    listed = "".join(f"- {rule}\n" for rule in rules)
    return (
        f"partitions:\n  - name: default\n    queues:\n{indented(queues, 6)}"
        f"    placementrules:\n{indented(listed, 6)}"
    )


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}-{row[1]}")
def test_a_published_example_gives_what_the_table_shows(tmp_path, row):
    example, user, groups, queue, tag, _, here, codes, _ = row
    pool = CLASSIC if example.startswith("UserName") else ""
    bundle = load_bundle(folder_of(tmp_path, configuration(example), pool))
    assert placed(bundle, user, names(groups), queue, tag) == (here, list(names(codes)))


def test_every_example_has_a_row_and_every_difference_a_reason():
    """A reason that no row names, and a row that names no reason, would be left behind after a change."""
    assert {row[0] for row in TABLE} == RULES.keys() | PARTITIONS.keys()
    unexplained = [row for row in TABLE if row[5] != row[6] and not row[8]]
    assert unexplained == []
    given = {letter for row in TABLE for letter in names(row[8])}
    assert {letter for letter in "abcdefgh" if f"\n- **{letter}.** " in PAGES["placement"]} == given
