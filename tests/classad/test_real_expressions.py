"""Policy expressions of production sites have HTCondor's values for ads of real pools."""

import json
import os
from itertools import product
from pathlib import Path

import pytest

from calls import words
from negotiator.classad import (
    Environment,
    ParseError,
    Side,
    Table,
    evaluate,
    evaluate_table,
    parse,
    parse_ad,
    unparse,
)
from negotiator.classad.syntax import Call, Literal, RecordExpr, children
from negotiator.pool import read_ads
from oracle import Oracle, available

SHARED = Path(os.environ.get("NEGOTIATOR_SHARED") or Path(__file__).parents[3] / "shared")
FOLDERS = (SHARED / "data" / "ads", SHARED / "condor" / "ads")
EXPRESSIONS = SHARED / "data" / "exprs" / "expressions.jsonl"
NOW = 1_500_000_000
ENV = Environment(now=float(NOW))
FROM_A_FILE = 4
OTHERS = 5

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not EXPRESSIONS.is_file(), reason=f"no real expressions in {EXPRESSIONS}: set NEGOTIATOR_SHARED"
    ),
    pytest.mark.skipif(not available(), reason="the htcondor package is not installed"),
]


@pytest.fixture(scope="module")
def oracle():
    process = Oracle()
    yield process
    process.close()


@pytest.fixture(scope="module")
def texts():
    """The expressions that need no value of a macro, by id."""
    lines = map(json.loads, EXPRESSIONS.read_text(encoding="utf-8").splitlines())
    return {line["id"]: line["expr"] for line in lines if not line["needs_macros"]}


def by_the_ads_clock(text):
    """Return the expression with an attribute in place of the clock, since HTCondor's clock cannot be set.

    The ads define ``CurrentTime``, so that this name needs no clock either.
    """
    return text.replace("time()", "CurrentTime")


def hangs_on_the_clock(expr):
    """True if an attribute calls a function that is not deterministic."""
    pending = [expr]
    while pending:
        node = pending.pop()
        pending.extend(children(node))
        if isinstance(node, Call) and node.name.lower() in {"time", "random", "currenttime"}:
            return True
    return False


def as_text(ad):
    """Return an ad in the new syntax with a fixed time, without attributes that use the clock or random numbers."""
    items = [(name, expr) for name, expr in ad.items() if not hangs_on_the_clock(expr)]
    return unparse(RecordExpr((*items, ("CurrentTime", Literal(NOW)))))


@pytest.fixture(scope="module")
def real_ads():
    """Some ads of each file as text, by type: ``Job``, ``Machine`` or other."""
    found = {"Job": [], "Machine": [], "other": []}
    for folder in FOLDERS:
        for path in sorted(folder.iterdir()):
            read = [ad for ad, _ in read_ads(path).ads]
            for ad in read[:: max(len(read) // FROM_A_FILE, 1)][:FROM_A_FILE]:
                kind = ad.string("MyType")
                found[kind if kind in found else "other"].append(as_text(ad))
    return found


def test_htcondor_parses_the_same_expressions(texts, oracle):
    """Those that contain $NAME for other programs to replace parse neither here nor in HTCondor."""
    refused = []
    for name, text in texts.items():
        try:
            parse(text)
        except ParseError:
            refused.append(name)
            assert oracle.ask(text) == ["parse", ""], name
    assert len(texts) > 150
    assert len(refused) < 10


def differences(oracle, ads, questions, values):
    """Return the differences to HTCondor: the expression, our value and HTCondor's."""
    theirs = oracle.ask_all(ads, questions)
    assert theirs is not None
    answers = zip(questions, map(words, values), theirs, strict=True)
    return [(question, ours, htcondors) for question, ours, htcondors in answers if ours != htcondors]


def parsed(texts):
    """Return texts and trees of the valid expressions."""
    trees = {}
    for text in map(by_the_ads_clock, texts.values()):
        try:
            trees[text] = parse(text)
        except ParseError:
            continue
    return trees


def test_in_each_ad_alone(texts, real_ads, oracle):
    """The values agree with HTCondor, by the scalar evaluator and as rows of a table of all ads."""
    ads = [text for kind in real_ads.values() for text in kind]
    made = [parse_ad(text) for text in ads]
    table = Table.from_ads(made)
    questions, scalar, columns = [], [], []
    for text, tree in parsed(texts).items():
        column = evaluate_table(tree, table, env=ENV)
        for at, ad in enumerate(made):
            questions.append([text, at, None])
            scalar.append(evaluate(tree, ad, None, ENV))
            columns.append(column.value(at))
    assert len(questions) > 10_000
    assert differences(oracle, ads, questions, scalar) == []
    assert differences(oracle, ads, questions, columns) == []


def spread(ads, count):
    """Return a number of ads spread over the list."""
    return range(0, len(ads), max(len(ads) // count, 1))[:count]


@pytest.mark.parametrize("rows", ["Job", "Machine"])
def test_in_matches(texts, real_ads, oracle, rows):
    """The values of jobs with slots agree with HTCondor: one kind as a table, the other as MY and as TARGET."""
    others = "Machine" if rows == "Job" else "Job"
    ads = [*real_ads[rows], *real_ads[others]]
    made = [parse_ad(text) for text in ads]
    count = len(real_ads[rows])
    table = Table.from_ads(made[:count])
    questions, scalar, columns = [], [], []
    chosen = [count + at for at in spread(real_ads[others], OTHERS)]
    for (text, tree), other, side in product(parsed(texts).items(), chosen, Side):
        column = evaluate_table(tree, table, made[other], side=side, env=ENV)
        for row in range(count):
            my, target = (row, other) if side is Side.MY else (other, row)
            questions.append([text, my, target])
            scalar.append(evaluate(tree, made[my], made[target], ENV))
            columns.append(column.value(row))
    assert len(questions) > 10_000
    assert differences(oracle, ads, questions, scalar) == []
    assert differences(oracle, ads, questions, columns) == []


def test_the_comparison_can_fail(oracle):
    """Kinds and values are compared: 1, 1.0 and true differ."""
    ads = ["[A = 1]"]
    questions = [["A", 0, None]] * 3
    wrong = differences(oracle, ads, questions, [1, 1.0, True])
    assert [ours for _, ours, _ in wrong] == [["float", "3ff0000000000000"], ["bool", "True"]]
