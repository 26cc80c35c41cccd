"""Whoever causes a cost of reading bears it: names, stored values and expressions have a budget for each owner."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.pool import read_pool
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.longform import read_long
from negotiator.pool.parsed_ad import ParsedAd
from negotiator.pool.reading_budget import FREE, AdCost, AdOwner, ReadingBudget, ReadingLimits

LIMITS = ReadingLimits()
MALLORY = AdOwner("user", "mallory")


def job(number, *lines, owner="mallory"):
    return "\n".join(
        ['MyType = "Job"', f'Owner = "{owner}"', f"ClusterId = {number}", "ProcId = 0", *lines, "\n"]
    )


def slot(number, *lines):
    name = f"host{number}"
    return "\n".join(
        [
            'MyType = "Machine"',
            f'Name = "slot1@{name}"',
            f'Machine = "{name}"',
            'State = "Unclaimed"',
            f"Only{number} = 1",
            *lines,
            "\n",
        ]
    )


def read(*texts, limits=LIMITS):
    """Return the ads of long form that were read, the messages of the others, and the budget."""
    budget = ReadingBudget(limits)
    results = list(read_long(texts, "f", pool_dictionary(), budget))
    ads = [result.ad for result in results if isinstance(result, ParsedAd)]
    return ads, [result.message for result in results if not isinstance(result, ParsedAd)], budget


def many_names(number, count=9_000):
    return job(number, *[f"A{number}_{each} = 1" for each in range(count)])


@pytest.mark.parametrize("order", [list, lambda texts: texts[::-1], lambda texts: texts[::7] + texts])
def test_names_of_one_user_leave_room_for_everybody(order):
    """In any order of the ads, the neighbours' jobs and all slots are read, and some of the user's jobs."""
    hostile = [many_names(number) for number in range(11)]
    others = [slot(n) for n in range(50)] + [job(100 + n, f"Mine{n} = 1", owner="alice") for n in range(50)]
    texts = list(dict.fromkeys(order(hostile + others)))
    pool = read_pool(["-"], io.BytesIO("".join(texts).encode()))
    assert len(pool.slots) == 50
    assert [ad.string("Owner") for ad in pool.jobs.ads].count("alice") == 50
    assert len(pool.jobs) == 51
    assert len(pool.problems) == 10
    for problem in pool.problems:
        assert (
            "the ads of user mallory have more than 10000 attribute names that no other ads have"
            in problem.message
        )
        assert problem.source.line


def test_an_ad_over_the_budget_leaves_no_names():
    """The dictionary does not know the names of an ad that is set aside."""
    known = pool_dictionary()
    before = len(known.entries)
    results = list(
        read_long(
            [job(1, *[f"B{n} = 1" for n in range(20)])], "f", known, ReadingBudget(ReadingLimits(names=10))
        )
    )
    assert not isinstance(results[0], ParsedAd)
    assert len(known.entries) == before


def test_names_in_many_ads_count_together():
    """One new name for each job, in any case: the budget is the user's."""
    texts = [job(n, f"{'abc'[: n % 3]}Name{n} = 1") for n in range(30)] + [
        job(30 + n, f"{'NAME' if n % 2 else 'name'}{n} = 1") for n in range(30)
    ]
    ads, messages, budget = read("".join(texts), limits=ReadingLimits(names=20))
    assert len(ads) == 18  # MyType and Owner are new names as well
    assert len(messages) == 42
    assert budget.charged == {MALLORY: AdCost(names=20)}


def test_a_user_is_the_same_in_every_file_and_form(tmp_path):
    """Jobs in several files and several forms share the budget of their owner."""
    for number in range(4):
        (tmp_path / f"{number}.ad").write_text(many_names(number, 6_000))
    pool = read_pool([tmp_path])
    assert len(pool.jobs) == 1


def test_a_long_expression_is_not_parsed_without_budget(monkeypatch):
    """Of ten lists of 100,000 elements none is parsed; the message names the user and the limit."""
    parsed = []
    monkeypatch.setattr(
        "negotiator.classad.tables.dictionary.parse_old", lambda text: parsed.append(len(text))
    )
    items = "{" + ",".join(map(str, range(100_000))) + "}"
    _, messages, _ = read("".join(job(n, f"Wanted = {items}") for n in range(10)), job(11))
    assert len(messages) == 10
    assert "the expressions in the ads of user mallory have more than 524288 characters" in messages[0]
    assert sum(parsed) < 1000


def test_expressions_in_many_ads_count_together():
    """Beyond the allowance of each ad."""
    text = " + ".join(["A"] * 200)
    jobs = [job(n, f"Wanted = {n} + {text}") for n in range(40)]
    ads, messages, budget = read("".join(jobs), limits=ReadingLimits(parsed=10_000))
    assert 0 < len(messages) < 40
    assert len(ads) + len(messages) == 40
    assert 9_000 < budget.charged[MALLORY].parsed <= 10_000


def test_an_equal_expression_is_charged_once():
    """A thousand jobs with the same long Requirements, and with the same long environment, cost what one costs."""
    requirements = "Requirements = " + " && ".join(["TARGET.Memory > 1"] * 400)
    environment = 'Environment = "' + "x" * 100_000 + '"'
    ads, messages, budget = read(*[job(n, requirements, environment) for n in range(1000)])
    assert (len(ads), messages) == (1000, [])
    assert budget.charged[MALLORY].parsed < 10_000
    assert budget.charged[MALLORY].text < 200_000


def test_an_expression_is_charged_once_though_its_line_was_forgotten(monkeypatch):
    """Others' many values of an attribute, after which its lines are not remembered, cost this user nothing."""
    monkeypatch.setattr("negotiator.classad.tables.distinct_values.MAX_LINES_EACH", 2)
    text = " && ".join(["TARGET.Memory > 1"] * 40)
    others = "".join(job(n, f"Requirements = A > {n}", owner="bob") for n in range(10))
    ads, _, budget = read(others, "".join(job(n, f"Requirements = {text}") for n in range(50)))
    assert len(ads) == 60
    assert budget.charged[MALLORY].parsed <= len(text)


def test_stored_text_has_a_budget_in_bytes():
    """Wide characters count four bytes; a job with little of its own is still read."""
    texts = [job(n, f'Text{n % 5} = "{chr(0x1F600) * 20_000}{n}"') for n in range(20)]
    ads, messages, _ = read(*texts, job(21), limits=ReadingLimits(text=500_000))
    assert len(ads) == 7
    assert "the values in the ads of user mallory take more than 500000 bytes" in messages[0]


def test_many_values_of_known_names_have_a_budget():
    """Ten thousand short constants in each ad are not free because their names are known."""
    texts = [job(n, *[f'A{each} = "{n}"' for each in range(9_000)]) for n in range(10)]
    ads, _, budget = read(*texts, limits=ReadingLimits(text=3 << 20))
    assert len(ads) == 2
    assert budget.charged[MALLORY].text <= 3 << 20


def test_many_orders_of_names_have_a_budget():
    """Each order of the names of an ad is stored; those of ads with very many attributes are charged."""
    names = [f"A{each} = 1" for each in range(5_000)]
    texts = [job(n, *names[n:], *names[:n]) for n in range(20)]
    ads, messages, _ = read(*texts, limits=ReadingLimits(text=3 << 20))
    assert 1 < len(ads) < 10
    assert len(ads) + len(messages) == 20


def test_users_together_leave_names_for_the_slots():
    """However many users conspire, all slots are read."""
    limits = ReadingLimits(names=50, all_user_names=100)
    users = "".join(job(n, *[f"A{n}_{each} = 1" for each in range(40)], owner=f"u{n}") for n in range(9))
    ads, messages, _ = read(users, *[slot(n) for n in range(200)], limits=limits)
    assert [ad.string("MyType") for ad in ads].count("Machine") == 200
    assert "the ads of all users have more than 100 different attribute names" in messages[-1]


@pytest.mark.parametrize(
    ("lines", "owner"),
    [
        (['MyType = "Job"', 'Owner = "alice"', 'User = "bob@x"', 'Machine = "m"'], AdOwner("user", "alice")),
        (['MyType = "Job"', 'User = "bob@x"'], AdOwner("user", "bob@x")),
        (['MyType = "Job"', "Owner = strcat(1)"], AdOwner("file", "f")),
        (["ClusterId = 1", "ProcId = 0", 'Owner = "alice"'], AdOwner("user", "alice")),
        (['MyType = "Submitter"', 'Name = "alice@x"', 'Machine = "m"'], AdOwner("user", "alice@x")),
        (['MyType = "Machine"', "Cpus = 1", 'Owner = "alice"', 'Machine = "M1"'], AdOwner("host", "m1")),
        (['MyType = "Machine"', "Cpus = 1", 'Name = "slot1@M1"'], AdOwner("host", "m1")),
        (['MyType = "Scheduler"', 'Name = "s"'], AdOwner("host", "s")),
        (['Nothing = "s"'], AdOwner("file", "f")),
        (['Owner = "alice"'], AdOwner("user", "alice")),
    ],
)
def test_who_is_charged_for_an_ad(lines, owner):
    """The user of a job, the host of a slot whatever user it names, else the file."""
    text = "\n".join(["Wanted = " + "+".join("A" * 300), *lines, "\n"])
    _, _, budget = read(text)
    assert list(budget.charged) == [owner]


def _in_json(attributes):
    return json.dumps([attributes])


def _in_new_syntax(attributes):
    return "[" + ";".join(f"{name} = {_text(value)}" for name, value in attributes.items()) + "]"


def _in_xml(attributes):
    cells = "".join(f'<a n="{name}">{_xml(value)}</a>' for name, value in attributes.items())
    return f"<classads><c>{cells}</c></classads>"


def _text(value):
    expression = isinstance(value, str) and value.startswith("/Expr(")
    return value[6:-2] if expression else json.dumps(value)


def _xml(value):
    if isinstance(value, int):
        return f"<i>{value}</i>"
    return f"<e>{_text(value)}</e>" if value.startswith("/Expr(") else f"<s>{value}</s>"


def _job_in(form, number, **attributes):
    return form({"MyType": "Job", "Owner": "mallory", "ClusterId": number, "ProcId": 0, **attributes})


@pytest.mark.parametrize("form", [_in_json, _in_new_syntax, _in_xml])
def test_other_forms_have_the_same_budget(tmp_path, form):
    """New names, long strings and many expressions in JSON, the new syntax and XML; the neighbours are read."""
    mine = " + ".join(["A"] * 15_000)
    for number in range(12):
        names = {f"A{number}_{each}": 1 for each in range(3_000)}
        expression = f"/Expr({number} + {mine})/"
        (tmp_path / f"names{number}").write_text(_job_in(form, number, **names))
        (tmp_path / f"trees{number}").write_text(_job_in(form, 100 + number, Wanted=expression))
    (tmp_path / "z_other").write_text(job(1, "Other = 1", owner="alice") + slot(1))
    pool = read_pool([tmp_path])
    assert len(pool.slots) == 1
    assert "alice" in [ad.string("Owner") for ad in pool.jobs.ads]
    messages = [problem.message for problem in pool.problems]
    assert len([text for text in messages if "more than 10000 attribute names" in text]) == 9
    assert len([text for text in messages if "the expressions in the ads of user mallory" in text]) == 4
    assert len(pool.jobs) == 12


@pytest.mark.parametrize("form", [_in_json, _in_new_syntax, _in_xml])
def test_equal_expressions_of_other_forms_are_charged_once(tmp_path, form):
    """Jobs with the same long expression are all read."""
    expression = "/Expr(" + " + ".join(["A"] * 5_000) + ")/"
    for number in range(60):
        (tmp_path / f"{number}").write_text(_job_in(form, number, Wanted=expression))
    pool = read_pool([tmp_path])
    assert (len(pool.jobs), pool.problems) == (60, ())


def test_an_ad_of_too_many_xml_elements_is_set_aside():
    """Its list is not stored; the next ad is read."""
    items = "<l>" + "<i>1</i>" * 100_001 + "</l>"
    text = f'<classads><c><a n="A">{items}</a></c><c><a n="ClusterId"><i>1</i></a><a n="ProcId"><i>0</i></a></c></classads>'
    pool = read_pool(["-"], io.BytesIO(text.encode()))
    assert len(pool.jobs) == 1
    assert "it has more than 100000 elements" in pool.problems[0].message


costs = st.builds(AdCost, st.integers(0, 9), st.integers(0, 3 * FREE.text), st.integers(0, 3 * FREE.parsed))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), costs), max_size=30))
def test_charges_never_exceed_the_limits_and_owners_do_not_affect_each_other(charges):
    """What an owner may do depends on that owner's own ads."""
    limits = ReadingLimits(names=20, text=40_000, parsed=1_000)
    together = ReadingBudget(limits)
    apart = {name: ReadingBudget(limits) for name in "ab"}
    for name, cost in charges:
        owner = AdOwner("user", name)
        assert together.charge(owner, cost) == apart[name].charge(owner, cost)
    for charged in together.charged.values():
        assert charged.names <= 20
        assert charged.text <= 40_000
        assert charged.parsed <= 1_000


def test_plain_ads_of_one_user_are_within_the_budget():
    """Twenty thousand jobs with values of their own are charged next to nothing."""
    texts = (
        job(
            n,
            f'GlobalJobId = "s#{n}.0#1"',
            f'Args = "{n}"',
            f'Environment = "A={n} {"x" * 900}"',
            f"QDate = {n}",
        )
        for n in range(20_000)
    )
    ads, messages, budget = read(*texts)
    assert (len(ads), messages) == (20_000, [])
    assert budget.charged[MALLORY] == AdCost(names=6)
