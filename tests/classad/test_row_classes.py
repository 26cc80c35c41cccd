"""Rows whose own expressions need the scalar evaluator: they are set apart, with the same values, and the others stay columns."""

import random

import pytest

from negotiator.classad import (
    Ad,
    Environment,
    Side,
    Table,
    evaluate,
    evaluate_table,
    parse,
    unparse_value,
)
from negotiator.classad.columnar import DependencyIndex
from negotiator.classad.context import AdValue, ListValue, scope
from negotiator.classad.scalar import evaluation
from negotiator_bench.unlike import JOB_NAMES, SLOT_NAMES, expression, job_attributes, slot_attributes

ENV = Environment(now=1e9)
START = "Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory"


def ad_of(values):
    return Ad([(name, parse(text)) for name, text in values.items()])


def honest(n):
    cpus = 2 ** (n % 5)
    host = f'"h{n}.x"'
    fixed = {"Arch": '"X86_64"', "OpSys": '"LINUX"', "Start": "true", "Rank": "0.0", "Requirements": START}
    return {
        "Name": host,
        "Machine": host,
        "Cpus": f"{cpus}",
        "Memory": f"{cpus * 2048}",
        "Mips": f"{5000 + n % 7}",
    } | fixed


def job(**changed):
    plain = {
        "RequestCpus": "2",
        "RequestMemory": "1024",
        "Owner": '"zoe"',
        "ClusterId": "7",
        "Rank": "TARGET.Mips",
    }
    return ad_of(
        plain | {"Requirements": 'TARGET.Arch == "X86_64" && TARGET.Memory >= MY.RequestMemory'} | changed
    )


def shown(value):
    return type(value).__name__, unparse_value(value) if isinstance(value, ListValue | AdValue) else repr(
        value
    )


def no_draws(values):
    return {name: text for name, text in values.items() if "random" not in text}


@pytest.mark.parametrize("seed", range(30))
def test_rows_of_every_kind_have_the_values_of_the_scalar_evaluator(monkeypatch, seed):
    """Unlike rows among many plain ones, for expressions of the rows and of an ad that may be as hard."""
    # Of 10 million steps, of which rows that have them all take seconds each; columns go up to one million.
    monkeypatch.setattr(scope, "MAX_STEPS", 1_200_000)
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    rows = [ad_of(honest(n)) for n in range(90)]
    for number in range(3):
        rows.insert(rng.randrange(90), ad_of(honest(100 + number) | no_draws(slot_attributes(seed, number))))
    other = job(**(no_draws(job_attributes(seed, 0)) if seed % 2 else {}))
    table = Table.from_ads(rows)
    index = DependencyIndex(table)
    for side, own, names in ((Side.MY, SLOT_NAMES, JOB_NAMES), (Side.TARGET, JOB_NAMES, SLOT_NAMES)):
        texts = [expression(rng, own, names, 2) for _ in range(4)] + [
            "Requirements",
            "Rank",
            "N0",
            "member(TARGET.Memory,{1,N1})",
        ]
        for text in texts:
            if "random" in text:
                continue
            expr = parse(text)
            column = evaluate_table(expr, table, other, side=side, env=ENV, dependencies=index, steps=1 << 40)
            for row, ad in enumerate(rows):
                my, target = (ad, other) if side is Side.MY else (other, ad)
                assert shown(column.value(row)) == shown(evaluate(expr, my, target, ENV)), (row, text)


HARD = {
    "opaque": {"Start": "unparse(N0) =!= error"},
    "random": {"Memory": "random(2) + 9999", "Start": "random(3) < 5"},
    "contexts": {
        "Memory": "9999 + countMatches(x > 1, {[x = 2], [x = MY.Cpus]})",
        "Start": "evalInEachContext(x, {[x = true]})[0]",
    },
    "circle": {"Memory": "Cpus", "Cpus": "Memory", "Start": "Start || MY.Requirements"},
    "chain": {"Start": "N0", **{f"N{n}": f"N{n + 1}" for n in range(350)}, "N350": "true", "Memory": "N0"},
    "doubling": {
        "Start": "N0 > 0",
        **{f"N{n}": f"N{n + 1} + N{n + 1}" for n in range(40)},
        "N40": "1",
        "Memory": "N30",
    },
    "reads names": {
        "Start": "member(TARGET.Owner, {Name, Machine, Mips, N0})",
        "Memory": "sum({9999, size(Name), TARGET.ClusterId})",
    },
    "strings": {
        "Start": "size(N0) > 0",
        **{f"N{n}": f"strcat(N{n + 1},N{n + 1})" for n in range(12)},
        "N12": '"abc"',
    },
    "Requirements": {"Start": "isUndefined(MY.Requirements)", "Memory": "9999"},
}
READ = {
    "of the slots": (Side.MY, "Requirements"),
    "a conjunct of the slots": (Side.MY, "TARGET.RequestMemory <= MY.Memory"),
    "of the job": (Side.TARGET, "Requirements"),
    "a list in the job's": (Side.TARGET, "member(TARGET.Memory, {RequestMemory, 8192})"),
}


@pytest.mark.parametrize("read", READ.values(), ids=READ)
@pytest.mark.parametrize("hard", HARD.values(), ids=HARD)
def test_one_slot_does_not_make_all_others_be_evaluated_one_by_one(monkeypatch, hard, read):
    """The rest of the rows costs a few evaluations, by columns or for all alike; before it was one for each row."""
    rows = [*(ad_of(honest(n)) for n in range(500)), ad_of(honest(500) | hard)]
    table = Table.from_ads(rows)
    side, text = read
    expr, index = parse(text), DependencyIndex(table)
    evaluated = []
    enter = evaluation.enter_ads
    for memory in (512, 4096):
        other = job(RequestMemory=f"{memory}")
        with monkeypatch.context() as patch:
            patch.setattr(evaluation, "enter_ads", lambda *ads: (evaluated.append(ads), enter(*ads)))
            column = evaluate_table(expr, table, other, side=side, env=ENV, dependencies=index)
        for row in range(5):
            pair = (rows[row], other) if side is Side.MY else (other, rows[row])
            assert column.value(row) is evaluate(expr, *pair, ENV)
    assert len(evaluated) < 40


def test_strings_that_double_by_columns_cost_what_they_cost_the_scalar_evaluator():
    """One value for all rows, made once: it must not be a string that the scalar evaluator has no steps for."""
    links = {f"N{n}": f"strcat(N{n + 1}, N{n + 1})" for n in range(12)} | {"N12": f'"{"x" * 900}"'}
    rows = [ad_of(honest(n)) for n in range(3)]
    for text in ("TARGET.N0", "size(TARGET.N0) > 5", "TARGET.N11", "TARGET.N4"):
        column = evaluate_table(parse(text), Table.from_ads(rows), job(**links), env=ENV)
        assert shown(column.value(1)) == shown(evaluate(parse(text), rows[1], job(**links), ENV)), text
