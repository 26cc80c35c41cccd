"""The order of the reasons why a job has no match: that of the ads, in whatever form and files they are read."""

import json

import attrs
import pytest

import pools
from negotiator.classad import Table
from negotiator.pool import read_pool

EXTRA = ([], [("HasGpu", "true")], [("Rack", '"r1"')], [("Zone", "3"), ("Rack", '"r2"')])
"""Further attributes of the slots, which have a sequence of names for each."""


SLOTS = 1200


def slots():
    """Return slots as names and values: those with each sequence of names in turn bring new START expressions."""
    return [
        [
            ("MyType", '"Machine"'),
            ("Name", f'"slot1@h{number}"'),
            ("Machine", f'"h{number}"'),
            ("State", '"Unclaimed"'),
            ("Cpus", str(number)),
            *EXTRA[number * number // 7 % 4],
            ("START", f"TARGET.Size < {number * 37 % (number // 40 + 1)}"),
            ("Requirements", "START"),
        ]
        for number in range(SLOTS)
    ]


def long_form(ads):
    return "".join("".join(f"{name} = {text}\n" for name, text in ad) + "\n" for ad in ads)


def one_file(folder, ads):
    (folder / "slots.ads").write_text(long_form(ads))


def a_file_an_ad(folder, ads):
    for number, ad in enumerate(ads):
        (folder / f"{number:04}.ads").write_text(long_form([ad]))


def as_json(folder, ads):
    values = [
        {
            name: f"/Expr({text})/" if name in {"START", "Requirements"} else json.loads(text)
            for name, text in ad
        }
        for ad in ads
    ]
    (folder / "slots.json").write_text(json.dumps(values))


def removals(folder):
    """Run a cycle over the slots in a folder and a job; return its reasons, and the slots that each removed."""
    pool = read_pool([folder])
    assert len(pool.slots) == SLOTS
    assert not pool.problems
    result = pools.cycle(attrs.evolve(pool, jobs=Table.from_ads([pools.job(Size="99")])))
    (outcome,) = result.outcomes
    return [(each.reason.text, each.removed) for each in outcome.removals]


@pytest.mark.parametrize("write", [a_file_an_ad, as_json])
def test_reasons_have_the_same_order_in_all_forms_of_a_pool(tmp_path, write):
    """Ads that are alike are read many at once; their expressions count in the order of the lines."""
    (tmp_path / "long").mkdir()
    (tmp_path / "other").mkdir()
    one_file(tmp_path / "long", slots())
    write(tmp_path / "other", slots())
    found = removals(tmp_path / "long")
    assert len(found) > 20
    assert found == removals(tmp_path / "other")
