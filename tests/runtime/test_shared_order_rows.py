"""Rows of an order of somebody's plugin, which several negotiators of one pool share: each counts in a row of its own, and reads those of all."""

import pytest

from negotiator.errors import StateError
from several_negotiators import negotiators

PLUGIN = """\
from negotiator.plugin import OrderResult, RequestOrder, RequestOrderType, SharedRows, hookimpl


class Counting(RequestOrder):
    def __init__(self, context):
        self.rows = dict(context.rows)

    def next(self):
        return None

    def feedback(self, feedback):
        pass

    def ended(self):
        mine = "turns:" + self.rows["own"]["name"]
        count = self.rows.get(mine, {"count": 0})["count"] + 1
        return OrderResult(rows={**self.rows, mine: {"count": count}})


def begin(rows, negotiators):
    if rows.get("turns:south", {}).get("count") == 3:
        raise KeyError("three")
    return {**rows, "own": {"name": negotiators.own}}


def rebase(left, current, settings):
    mine = "turns:" + left["own"]["name"]
    return {**current, mine: left[mine]}


@hookimpl
def negotiator_orders():
    shared = SharedRows(
        is_shared=lambda key: key.startswith("turns:"), begin=begin, rebase=rebase, join=lambda own, rows: {**rows, **own}
    )
    yield RequestOrderType(name="counting", make=Counting, sharing=shared)
"""
FILES = {"pool.yaml": "order: counting\nplugins:\n  folders: [plugins]\n"}


@pytest.fixture
def both(tmp_path, postgresql):
    (tmp_path / "pool.ads").write_text('MyType = "Machine"\nName = "a"\nPart = "north"\n')
    for name in ("north", "south"):
        (tmp_path / name / "plugins").mkdir(parents=True, mode=0o755)
        (tmp_path / name / "plugins" / "counting.py").write_text(PLUGIN)
    found = negotiators(tmp_path, postgresql.url(), FILES)
    yield list(found.values())
    for each in found.values():
        each.store.close()


def counts(negotiator):
    rows, _ = negotiator.store.order_rows("counting")
    return {key: row.get("count", row.get("name")) for key, row in rows.items()}


def test_each_negotiator_has_the_rows_of_all_and_its_own(both):
    north, south = both
    north.cycle()
    south.cycle(north.cycle)
    north.cycle(south.cycle)
    assert counts(north) == {"own": "north", "turns:north": 3, "turns:south": 2}
    assert counts(south) == {"own": "south", "turns:north": 3, "turns:south": 2}


def test_a_cycle_in_which_the_plugin_fails_changes_nothing(both):
    north, south = both
    for _ in range(3):
        south.cycle()
    text = "plugin counting: the shared rows of the order counting failed: KeyError"
    with pytest.raises(StateError, match=text):
        north.cycle()
    assert counts(south) == {"own": "south", "turns:south": 3}


def test_rows_that_a_negotiator_had_alone_are_added_once(both):
    north, south = both
    south.cycle()
    north.store.save((), (), (), order_rows={("counting", "turns:north"): {"count": 40}})
    for _ in range(2):
        north.begin()
        north.cycle()
    assert counts(south)["turns:north"] == 42
    with north.store.database.reading() as db:
        assert db.execute("SELECT key FROM order_rows") == [("own",)]
