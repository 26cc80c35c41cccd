"""The rows that the switches select."""

import attrs
import pytest

from negotiator_quotasets.complexes import STANDARD, Complexes
from negotiator_quotasets.language import NameFilter
from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.qquota.selection import RowSelection, scope_matchers
from negotiator_quotasets.qquota.usage_rows import UsageRow

COMPLEXES = Complexes(STANDARD)
USERSETS = {"staff": ("roland", "andre"), "eng": ("alice",)}
HOSTS = Hosts(["Durin", "carc", "lxa"], {"@lx": ["durin", "carc"], "@all": ["@lx", "lxa"], "@empty": []})
MATCHERS = scope_matchers(USERSETS, HOSTS)


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
        # Unknown groups and wildcards of groups match the rule, not a member: they select all its counters.
        (row("users", ["*"], value="alice"), {"users": ["@nosuch"]}),
        (row("users", ["@staff"], value="roland"), {"users": ["@*"]}),
        (row("users", ["@eng"]), {"users": ["alice"]}),
        (row("users", ["alice", "bob"]), {"users": ["b?b"]}),
        (row("users", [], ["bob"]), {"users": ["alice"]}),
        (row("hosts", ["*"], value="Durin"), {"hosts": ["durin"]}),
        (row("hosts", ["*"], value="Durin"), {"hosts": ["DUR*"]}),
        (row("hosts", ["@lx"], value="Durin"), {"hosts": ["@lx"]}),
        (row("hosts", ["*"], value="Durin"), {"hosts": ["@all"]}),
        # A host group selects rules, not the counters of its members.
        (row("hosts", ["*"], value="lxa"), {"hosts": ["@lx"]}),
        (row("hosts", ["*"], value="lxa"), {"hosts": ["@nosuch"]}),
        (row("hosts", ["carc"]), {"hosts": ["@l*"]}),
        (row("hosts", [], ["durin"]), {"hosts": ["d*"]}),
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
    assert list(RowSelection(**shown).select([selected], MATCHERS, COMPLEXES))


@pytest.mark.parametrize(
    ("selected", "hidden"),
    [
        (row("users", ["*"], value="alice"), {"users": ["Alice"]}),
        (row("users", ["*"], value="alice"), {"users": ["@staff"]}),
        # A group stands for each of its members, not for a shared counter.
        (row("users", ["@staff"]), {"users": ["@staff"]}),
        (row("users", [], ["bob"]), {"users": ["bob"]}),
        (row("users", ["*"], ["@eng"]), {"users": ["alice"]}),
        (row("hosts", ["*"], value="Durin"), {"hosts": ["lx*"]}),
        (row("hosts", ["@lx"], value="Durin"), {"hosts": ["@empty"]}),
        # No counter has a host of an empty group, not even one that hosts share.
        (row("hosts", ["*"], value="Durin"), {"hosts": ["@empty"]}),
        (row("users", ["*"], value="alice"), {"hosts": ["@empty"]}),
        (row("hosts", [], ["*"]), {"hosts": ["durin"]}),
        (row("hosts", [], ["d*"]), {"hosts": ["d*"]}),
        (row("projects", ["*"], ["p1"], value="p2"), {"projects": ["p*"]}),
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
    assert not list(RowSelection(**hidden).select([selected], MATCHERS, COMPLEXES))


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
        for row in selection.select(rows, MATCHERS, COMPLEXES)
    ]
    assert found == [
        (user, host, resource)
        for user in ("andre", "roland", "alice")
        for host in ("Durin", "carc")
        for resource in ("slots", "virtual_free")
    ]


def test_rows_of_several_rules_are_selected_each_by_its_own_rule():
    """The filters of one rule are not used for the next one."""
    rows = [row("users", ["*"], value="alice"), row("users", [], ["alice"]), row("users", ["*"], value="bob")]
    rows += [row("hosts", ["@all"], value="Durin"), row("hosts", ["@lx"], value="Durin")]
    rows = [attrs.evolve(each, rule=f"a/{number}") for number, each in enumerate(rows, 1)]
    selection = RowSelection(users=["alice"], hosts=["@lx"])
    assert list(selection.select(rows, MATCHERS, COMPLEXES)) == [rows[0], rows[4]]
