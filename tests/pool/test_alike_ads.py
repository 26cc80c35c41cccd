"""Ads that have the same names are read by columns: with the same result as line by line."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.classad import unparse
from negotiator.classad.tables import distinct_values
from negotiator.pool import ad_matching, longform, read_pool, snapshot_builder
from negotiator.pool.alike_ads import AlikeReader
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.longform import read_long, read_long_blocks, whole_lines
from negotiator.pool.parsed_ad import ParsedAd
from negotiator.pool.reading_budget import ReadingBudget, ReadingLimits

VALUES = st.one_of(
    st.integers(-3, 10**20).map(str),
    st.sampled_from(
        ["0", "007", "1.5", "-2.25", "1e3", "true", "undefined", "", " 5", "5 ", "(5)", "-0.0", ".5"]
    ),
    st.sampled_from(
        ['"a"', '"A"', '""', '"', '"a\\"b"', '"Zoë"', '"\udcff"', '"a" "b"', '"x" + "y"', "x\ty"]
    ),
    st.sampled_from(["Cpus + 1", "TARGET.Memory >= RequestMemory", "(", '"' + "x" * 300 + '"', "{1, 2}"]),
)
NAMES = ["MyType", "Owner", "A", "B", "cpus", "Cpus", "ClaimId", "Ä"]
LINES = st.sampled_from(
    ["# a comment", "*** X", "-- Schedd: s", " ", "\r", "no equals", "A=1", " A = 1", "B = 2\r"]
)


@st.composite
def texts(draw):
    """Blocks of a text of ads, most of which have the names of the first one."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5))
    common = draw(st.lists(VALUES, min_size=len(names), max_size=len(names)))
    ads = []
    for _ in range(draw(st.integers(8, 30))):
        lines = [
            f"{name} = {draw(VALUES) if draw(st.integers(0, 3)) == 0 else value}"
            for name, value in zip(names, common, strict=True)
        ]
        if draw(st.integers(0, 9)) == 0:
            lines.insert(draw(st.integers(0, len(lines))), draw(LINES))
        ads.append("\n".join(lines) + draw(st.sampled_from(["\n\n"] * 9 + ["\n \n", "\n\n\n"])))
    cut = draw(st.integers(1, len(ads) - 1))
    text = "".join(ads)
    return ["".join(ads[:cut]), text[len("".join(ads[:cut])) :]]


def facts(blocks, *, by_lines=False, known_lines=None, limits=None):
    """Everything that reading a text gives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ad_matching, "_ENOUGH", ad_matching.FEW)
        if by_lines:
            patch.setattr(longform, "FEW", 10**9)
        if known_lines is not None:
            patch.setattr(distinct_values, "MAX_LINES_EACH", known_lines)
        budget = ReadingBudget(limits or ReadingLimits())
        results = list(read_long(blocks, "f", pool_dictionary(), budget, keep_claims=True))
    ads = [
        (each.source, [(name, unparse(expr)) for name, expr in each.ad.items()], len(each.claims))
        if isinstance(each, ParsedAd)
        else each
        for each in results
    ]
    return ads, budget.charged


@given(texts(), st.sampled_from([None, 0, 2]))
@settings(max_examples=150, deadline=None)
def test_ads_read_by_columns_are_those_read_line_by_line(blocks, known_lines):
    """The same attributes, places, claim ids, problems and charges, however many lines are remembered."""
    assert facts(blocks, known_lines=known_lines) == facts(blocks, by_lines=True, known_lines=known_lines)


def job(number, *, requirements="true", owner="ann", args="x"):
    return (
        f'MyType = "Job"\nClusterId = {number // 10}\nProcId = {number % 10}\nOwner = "{owner}"\n'
        f'GlobalJobId = "s#{number // 10}.{number % 10}#7"\nArgs = "{args}{number}"\n'
        f"Requirements = {requirements}\n\n"
    )


def columns(blocks):
    """The number of ads in a text that are read by columns, and of all others."""
    alike = AlikeReader(pool_dictionary(), ReadingBudget())
    found = list(read_long_blocks(whole_lines(blocks), "f", alike))
    return sum(len(ads.lines) for block in found for ads in block.alike), sum(
        len(block.others) for block in found
    )


def test_jobs_with_values_of_their_own_are_read_by_columns():
    """All but those of the first block, whose names are new."""
    assert columns([job(0), "".join(map(job, range(1, 100)))]) == (99, 1)


def test_expressions_are_read_by_columns():
    """Also those that no ad above has; only an expression that does not parse is left."""
    known = [job(number) for number in range(50)]
    new = [job(number, requirements=f"Cpus > {number}") for number in range(50, 98)]
    assert columns([job(99), "".join([*known, *new, job(98, requirements="Cpus >")])]) == (98, 2)


@pytest.mark.parametrize("known_lines", [2, 4096])
def test_ads_that_begin_to_differ_in_further_lines_are_read_by_columns(monkeypatch, known_lines):
    """Also in lines in which all ads agreed, and where a number becomes an expression."""
    monkeypatch.setattr(distinct_values, "MAX_LINES_EACH", known_lines)
    like = "".join(map(job, range(1, 100)))
    unlike = "".join(job(number, owner=f"ann{number}") for number in range(100, 200))
    odd = "".join(job(number).replace(f"Id = {number // 10}\n", "Id = 1 + 1\n") for number in range(200, 300))
    assert columns([job(0), like, unlike, odd]) == (299, 1)


def test_numbers_and_strings_in_their_usual_form_are_read_as_they_are():
    """The largest integer, reals, and strings with characters that are not ASCII, in lines that most ads differ in."""
    forms = ["{}99999999999999", "{}", "{}.5", "-{}.25", '"Zoë{}"', '"{}"', '"\udcff{}"']
    ads = [
        "".join(f"N{each} = {form.format(number)}\n" for each, form in enumerate(forms)) + "\n"
        for number in range(1000, 1200)
    ]
    blocks = [ads[0], "".join(ads[1:100]), "".join(ads[100:])]
    assert facts(blocks, known_lines=2) == facts(blocks, by_lines=True, known_lines=2)


def test_ads_of_several_sequences_of_names_are_read_by_columns():
    """With equally many lines or not, in turn."""
    forms = [
        job,
        lambda number: f"A = {number}\n{job(number)}",
        lambda number: f"B = {number}\n{job(number)}",
    ]
    ads = [forms[number % 3](number) for number in range(240)]
    assert columns(["".join(ads[:3]), "".join(ads[3:])]) == (237, 3)


def test_ads_with_several_blank_lines_between_them_are_read_by_columns():
    """And have the numbers of their own lines."""
    ads = ["\n" * (number % 4) + job(number) for number in range(100)]
    assert columns([ads[0], "".join(ads[1:])]) == (99, 1)
    assert facts([ads[0], "".join(ads[1:])]) == facts([ads[0], "".join(ads[1:])], by_lines=True)


def test_ads_that_exceed_their_allowance_are_charged():
    """An ad with ten kilobytes of its own costs its owner the rest beyond the allowance, in the midst of alike ads."""
    ads = [job(number, args="x" * (5000 if number == 20 else 1)) for number in range(40)]
    ads[20] = ads[20].replace("Owner", f'Iwd = "{"y" * 5000}"\nOwner')
    ads[30] = job(30, args="x" * 9000)
    found, charged = facts([job(99), "".join(ads)])
    assert (found, charged) == facts([job(99), "".join(ads)], by_lines=True)
    assert len(charged) == 1


def test_owners_are_charged_in_the_order_of_the_lines():
    """Ads with other names between them, or a fault, change nothing: of all ads the later ones have no room."""
    forms = [
        job,
        lambda number, **own: f"A = {number}\n{job(number, **own)}",
        lambda number, **own: f"B = (\n{job(number, **own)}" if number % 50 == 2 else job(number, **own),
    ]
    long = " || ".join(["Cpus > {0}"] * 40)
    ads = [forms[number % 3](number, requirements=long.format(number)) for number in range(300)]
    blocks = [job(400) + forms[1](401), "".join(ads)]
    for parsed in (3_000, 20_000):
        limits = ReadingLimits(parsed=parsed)
        found, charged = facts(blocks, limits=limits)
        assert (found, charged) == facts(blocks, by_lines=True, limits=limits)
        assert 5 < sum("have more than" in str(each) for each in found) < 290


def test_ads_with_the_same_new_expression_are_charged_one_by_one():
    """If the budget of the first one's owner has no room for it, the next owner's may have."""
    long = " || ".join(["Cpus > {0}"] * 40)
    ads = [
        job(number, owner="ann" if number % 3 == 0 else f"bob{number}", requirements=long.format(number // 6))
        for number in range(300)
    ]
    limits = ReadingLimits(parsed=1_000)
    found, charged = facts([job(400), "".join(ads)], limits=limits)
    assert (found, charged) == facts([job(400), "".join(ads)], by_lines=True, limits=limits)
    # Ann has room for a few; the second ad with each of the others has an owner of its own.
    assert sum("ads of user ann have more than" in str(each) for each in found) > 40
    assert len(charged) > 40


POOL = (
    'MyType = "Machine"\nName = "slot{0}@h"\nMyAddress = "<1.2.3.4:{1}>"\nState = "Unclaimed"\nCpus = {0}\n\n',
    'MyType = "Job"\nClusterId = {1}\nProcId = {0}\nGlobalJobId = "s#{1}.{0}#7"\nOwner = "o"\n\n',
    'MyType = "Job"\nClusterId = {1}\nProcId = {0}\nUser = "u"\n\n',
    'MyType = "Job"\nClusterId = {1}\nProcId = -{0}\nUser = "u"\n\n',
    'MyType = "Job"\nClusterId = "{1}"\nProcId = {0}\nGlobalJobId = "s#{1}.{0}#7"\nOwner = "o"\n\n',
    'MyType = "Submitter"\nName = "{0}"\nScheddName = "s{1}"\n\n',
    'MyType = "Scheduler"\nName = "{0}"\nMyAddress = "<1.2.3.4:{1}>"\nN = 5\n\n',
    'MyType = "Slot{1}"\nName = "slot{0}@h"\n\n',
    'MyType = "Machine"\nName = {0}\nMachine = "h"\nSlotID = {1}\nState = "Owner"\n\n',
    'MyType = "Machine"\nName = "slot{0}@h"\nMyAddress = "<1.2.3.4:{1}>"\n\n',
    "A = {0}\nB = {1}\n\n",
)


@given(
    st.lists(
        st.tuples(st.sampled_from(POOL), st.integers(0, 5), st.integers(0, 1)), min_size=10, max_size=60
    ),
    st.sampled_from([3, 10_000]),
)
@settings(max_examples=60, deadline=None)
def test_a_pool_read_by_columns_is_the_one_read_line_by_line(ads, most_problems):
    """Kinds, identities, repeated ads, their order, counts and problems are the same."""
    text = "".join(form.format(0, 0) for form in POOL)
    text += "x = 1\n" * 2000 + "\n"  # the first piece of the file ends within this ad
    text += "".join(form.format(*numbers) for form, *numbers in ads)
    found = []
    for few in (8, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(longform, "FEW", few)
            patch.setattr(longform, "_FIRST_PIECE", 1 << 12)
            patch.setattr(ad_matching, "_ENOUGH", 8)
            patch.setattr(snapshot_builder, "MAX_PROBLEMS", most_problems)
            pool = read_pool(["-"], io.BytesIO(text.encode()))
        found.append(pool)
    assert found[0].problems == found[1].problems
    assert found[0].encode() == found[1].encode()
