"""NEGOTIATOR_MATCH_EXPRS: expressions that each slot gets of this negotiator, in matching and in the ads of its matches."""

import pytest

from negotiator.bundle import check_bundle
from negotiator.classad import unparse
from pools import cycle, job, matched, slot, snapshot, write_bundle

ORDERS = ("order: names\n", "order: submitters\naccounting: {trust_names: true}\n", "order: queues\n")


def shown(result):
    (match,) = result.matches
    return {
        name: unparse(tree) for name, tree in match.slot_ad.items() if name.startswith("NegotiatorMatchExpr")
    }


@pytest.mark.parametrize("order", ORDERS)
def test_slots_have_the_macros_that_an_htcondor_file_lists(tmp_path, order):
    conf = (
        "NEGOTIATOR_MATCH_EXPRS = Site, hint NegotiatorMatchExprOwn\nSITE_NAME = lab\n"
        'Site = "$(SITE_NAME)"\nHINT = TARGET.Wanted + 1\nNegotiatorMatchExprOwn = true\n'
    )
    bundle = write_bundle(tmp_path / "b", order, conf=conf)
    assert not [each for each in bundle.problems if "has no effect" in str(each)]
    ads = [slot(0, Requirements='NegotiatorMatchExprSite == "lab" && MY.NegotiatorMatchExprHint == 3')]
    pool = snapshot(ads, [job(0, Wanted="2", GlobalJobId='"h#1.0#1"'), job(1, GlobalJobId='"h#1.1#1"')])
    result = cycle(pool, bundle)
    assert matched(result) == [("1.0", "s0@h")]
    assert shown(result) == {
        "NegotiatorMatchExprSite": '"lab"',
        "NegotiatorMatchExprhint": "TARGET.Wanted + 1",
        "NegotiatorMatchExprOwn": "true",
    }


def test_pool_yaml_has_them_as_a_mapping(tmp_path):
    bundle = write_bundle(tmp_path / "b", "NEGOTIATOR_MATCH_EXPRS: {Site: '\"lab\"'}\n")
    pool = snapshot([slot(0)], [job(0, Requirements='TARGET.NegotiatorMatchExprSite == "lab"')])
    assert shown(cycle(pool, bundle)) == {"NegotiatorMatchExprSite": '"lab"'}


@pytest.mark.parametrize(
    ("conf", "problem"),
    [
        (
            "NEGOTIATOR_MATCH_EXPRS = Missing\n",
            "warning: NEGOTIATOR_MATCH_EXPRS lists 'Missing', which is not defined",
        ),
        ("NEGOTIATOR_MATCH_EXPRS = A\nA = 1 +\n", "error: "),
        ("NEGOTIATOR_MATCH_EXPRS = A.B\nA.B = 1\n", "error: invalid name in NEGOTIATOR_MATCH_EXPRS: 'A.B'"),
    ],
)
def test_a_wrong_list_is_reported(tmp_path, conf, problem):
    (tmp_path / "pool.yaml").write_text("order: names\n")
    (tmp_path / "a.conf").write_text(conf)
    assert any(problem in str(each) for each in check_bundle(tmp_path))
