"""The rows that the switches select."""

import pytest

from negotiator_quotasets.complexes import STANDARD, Complexes
from negotiator_quotasets.language import NameFilter
from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.qquota.selection import RowSelection, members_of
from negotiator_quotasets.qquota.usage_rows import UsageRow

COMPLEXES = Complexes(STANDARD)
USERSETS = {"staff": ("roland", "andre"), "eng": ("alice",)}
HOSTS = Hosts(["Durin", "carc", "lxa"], {"@lx": ["durin", "carc"], "@all": ["@lx", "lxa"]})
MEMBERS = members_of(USERSETS, HOSTS)


def row(scope, names, excluded=(), value=None, resource="slots"):
    wanted = NameFilter(tuple(names), tuple(excluded), value is not None)
    values = {} if value is None else {scope: value}
    return UsageRow("a/1", {scope: wanted}, values, COMPLEXES.find(resource), "5", "1")


@pytest.mark.parametrize(
    ("selected", "shown"),
    [
        (row("users", ["*"], value="alice"), {"users": ["alice"]}),
        (row("users", ["*"], value="alice"), {"users": ["bob", "al*"]}),
        (row("users", ["*"], value="alice"), {"users": ["@eng"]}),
        (row("users", ["*"], value="alice"), {"users": ["@e*"]}),
        (row("users", ["@eng"]), {"users": ["alice"]}),
        (row("users", ["alice", "bob"]), {"users": ["b?b"]}),
        (row("users", [], ["bob"]), {"users": ["alice"]}),
        (row("hosts", ["*"], value="Durin"), {"hosts": ["durin"]}),
        (row("hosts", ["*"], value="Durin"), {"hosts": ["DUR*"]}),
        (row("hosts", ["@lx"], value="Durin"), {"hosts": ["@lx"]}),
        (row("hosts", ["*"], value="Durin"), {"hosts": ["@all"]}),
        (row("hosts", ["@all"]), {"hosts": ["lxa"]}),
        (row("queues", ["*"], value="my.q"), {"queues": ["my.q"]}),
        (row("queues", ["*"], value="my.q"), {"queues": ["q"]}),
        (row("queues", ["*"], value="my.q"), {"queues": ["my.*"]}),
        (row("projects", [], ["p1"]), {}),
        (row("pes", [], ["*"]), {}),
        (row("projects", [], ["p1"], value="-"), {}),
        (row("users", ["*"], value="alice"), {"resources": ["s"]}),
    ],
    ids=str,
)
def test_a_row_is_selected(selected, shown):
    assert list(RowSelection(**shown).select([selected], MEMBERS, COMPLEXES))


@pytest.mark.parametrize(
    ("selected", "hidden"),
    [
        (row("users", ["*"], value="alice"), {"users": ["Alice"]}),
        (row("users", ["*"], value="alice"), {"users": ["@staff"]}),
        (row("users", ["*"], value="alice"), {"users": ["@nosuch"]}),
        # A group stands for each of its members, not for a shared counter.
        (row("users", ["@staff"]), {"users": ["@staff"]}),
        (row("users", [], ["bob"]), {"users": ["bob"]}),
        (row("users", ["*"], ["@eng"]), {"users": ["alice"]}),
        (row("hosts", ["*"], value="Durin"), {"hosts": ["lx*"]}),
        (row("hosts", ["@lx"], value="Durin"), {"hosts": ["@empty"]}),
        # As in Grid Engine: the rule names @all; @lx is a part of it, but not named.
        (row("hosts", ["@all"], value="Durin"), {"hosts": ["@lx"]}),
        (row("queues", [], ["my.q"]), {"queues": ["my.q"]}),
        (row("projects", [], ["p1"], value="-"), {"projects": ["p1"]}),
        (row("users", ["*"], value="alice"), {"resources": ["arch"]}),
        (row("users", ["*"], value="alice"), {"resources": ["nosuch"]}),
    ],
    ids=str,
)
def test_a_row_is_not_selected(selected, hidden):
    assert not list(RowSelection(**hidden).select([selected], MEMBERS, COMPLEXES))


def test_rows_of_a_rule_come_user_by_user():
    """In Grid Engine's order: of each user all resources, then project by project, host by host."""
    filters = {scope: NameFilter(("*",), (), True) for scope in ("users", "hosts")}
    rows = [
        UsageRow("a/1", filters, {"users": user, "hosts": host}, COMPLEXES.find(resource), "5", "1")
        for resource in ("slots", "virtual_free")
        for user in ("roland", "alice", "andre", "bob")
        for host in ("carc", "Durin")
    ]
    selection = RowSelection(users=["andre", "@staff", "al*"], hosts=["durin", "c*", "durin"])
    found = [
        (row.values["users"], row.values["hosts"], row.complex.name)
        for row in selection.select(rows, MEMBERS, COMPLEXES)
    ]
    assert found == [
        (user, host, resource)
        for user in ("andre", "roland", "alice")
        for host in ("Durin", "carc")
        for resource in ("slots", "virtual_free")
    ]


def test_rows_of_several_rules_are_selected_each_by_its_own_rule():
    """The cache of one rule is not used for the next one."""
    rows = [row("users", ["*"], value="alice"), row("users", [], ["alice"]), row("users", ["*"], value="bob")]
    rows += [row("hosts", ["@all"], value="Durin"), row("hosts", ["@lx"], value="Durin")]
    selection = RowSelection(users=["alice"], hosts=["@lx"])
    assert list(selection.select(rows, MEMBERS, COMPLEXES)) == [rows[0], rows[4]]
