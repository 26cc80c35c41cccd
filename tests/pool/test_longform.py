"""Long form, as condor_status -long, condor_q -long and condor_history -long print it."""

import pytest

from negotiator.pool import longform
from negotiator.pool.longform import lines, read_long
from negotiator.records import Severity


def test_an_attribute_a_line_and_a_blank_line_between_ads(ads):
    """Two ads parted by blank lines are two ads, with their expressions as written."""
    found, problems = ads('A = 1\nB = "x"\n\n  \nA = Cpus > 2\n')
    assert found == [{"A": "1", "B": '"x"'}, {"A": "Cpus > 2"}]
    assert problems == ()


@pytest.mark.parametrize(
    "line",
    [
        '*** Offset = 12 ClusterId = 5 ProcId = 0 Owner = "u" CompletionDate = 7',
        "*** EPOCH ClusterId=5 ProcId=0 RunInstanceId=0",
        "***",
        "-- Schedd: ap1.example.org : <10.0.0.1:9618?...> @ 11/20/26 19:00:00",
    ],
)
def test_lines_of_history_files_and_of_condor_q_part_ads(ads, line):
    """A *** line of a history file and the -- line of condor_q end an ad and are none of its attributes."""
    found, problems = ads(f"{line}\nA = 1\n{line}\nA = 2\n{line}\n")
    assert found == [{"A": "1"}, {"A": "2"}]
    assert problems == ()


def test_what_htcondor_overlooks_is_overlooked(ads):
    """Comments, carriage returns, indentation, and text after a complete expression are no fault of an ad."""
    found, problems = ads('# a comment = 5\r\n\tA = 5 5\r\nB = "x" // y\r\nMY.C = 1\r\n')
    assert found == [{"A": "5", "B": '"x"', "MY.C": "1"}]
    assert problems == ()


def test_the_last_attribute_of_a_name_counts_whatever_the_case(ads):
    """Names are equal whatever the case of their letters, and also where a line was seen before."""
    found, _ = ads("A = 1\na = 2\n\nA = 1\na = 2\nA = 1\n")
    assert [list(ad.values()) for ad in found] == [["2"], ["1"]]


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("Bad = 1 +", 10, "Bad does not parse"),
        ("Bad = 007", 7, "Bad does not parse"),
        ("Bad", 1, "a line has no '='"),
        (" = 5", 1, "no name left of its '='"),
        ("Bad = ", 7, "Bad does not parse"),
        ("// x", 1, "a line has no '='"),
        ('Bad = "\0"', 8, "NUL"),
    ],
)
def test_a_bad_line_sets_its_ad_aside_and_no_other(ads, line, column, message):
    """The ad with a bad line is left out as a whole, with file, line and column; the ads around it are read."""
    found, (problem,) = ads(f"A = 1\n\nA = 2\n{line}\nZ = 9\nalso bad\n\nA = 3\n")
    assert found == [{"A": "1"}, {"A": "3"}]
    assert message in problem.message
    assert (problem.severity, problem.source.line, problem.source.column) == (Severity.ERROR, 4, column)
    assert "begins at line 3" in problem.hint
    assert problem.excerpt == line.replace("\0", "?")


def test_a_line_that_plays_tricks_on_terminals_is_shown_harmless(ads):
    """Escape sequences and bytes that are not UTF-8 are neither in the message nor in the excerpt."""
    _, (problem,) = ads(b"A = 1\nB\x1b[31m\xff = (\n")
    assert (problem.message + problem.excerpt).isascii()
    assert (problem.message + problem.excerpt).isprintable()


def test_bytes_that_are_not_utf8_are_kept(ads):
    """A byte that is not UTF-8 comes out as it went in."""
    (ad,), problems = ads(b'A = "caf\xe9"\n')
    assert ad["A"] == r'"caf\351"'  # as unparse writes the byte
    assert problems == ()


def test_a_line_too_long_sets_its_ad_aside(ads):
    """A line of more than a megabyte is not parsed, and the next ad is read."""
    found, (problem,) = ads('A = 1\n\nB = "' + "x" * (3 << 20) + '"\nC = 1\n\nA = 2\n')
    assert found == [{"A": "1"}, {"A": "2"}]
    assert "more than 1048576 characters" in problem.message
    assert problem.source.line == 3


def test_lines_do_not_grow_without_bound():
    """Of an endless line little more than the limit is kept at any time."""
    blocks = ["x" * 1000] * 5000
    assert max(map(len, lines(blocks))) <= longform.MAX_LINE + 1000


def test_an_ad_with_too_many_attributes_is_set_aside(ads):
    """An ad of a hundred thousand attributes is one problem; the next ad is read."""
    found, (problem,) = ads("\n".join(f"A{n} = {n}" for n in range(100_000)) + "\n\nA = 2\n")
    assert found == [{"A": "2"}]
    assert "more than 10000 attributes" in problem.message


def test_lines_in_common_are_parsed_once():
    """The cache gives the same tree for a line that two ads share, and never holds more than its limit."""
    cache = {}
    one, two = read_long(["A = Cpus + 1\n\nA = Cpus + 1\nB = 2\n"], "f", cache)
    assert one.ad.get("A") is two.ad.get("A")
    assert set(cache) == {"A = Cpus + 1", "B = 2"}


def test_the_cache_stays_small(monkeypatch):
    """A full cache is emptied, and what is read stays the same."""
    monkeypatch.setattr(longform, "_CACHED_LINES", 3)
    cache = {}
    (found,) = read_long(["".join(f"A{n} = {n}\n" for n in range(10))], "f", cache)
    assert len(found.ad) == 10
    assert len(cache) <= 3


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_blocks_may_end_anywhere(size):
    """Where blocks end has no influence on the lines."""
    text = "a = 1\r\n\nb = 2\n\n\nc"
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    assert list(lines(blocks)) == text.split("\n")


def test_two_ads_that_run_into_each_other_are_set_aside(ads):
    """Where files were joined that do not end in a blank line, one of the two would be lost without a word."""
    found, problems = ads('MyType = "Job"\nA = 1\nmytype = "Machine"\nB = 2\n\nMyType = "Machine"\nB = 3\n')
    assert found == [{"MyType": '"Machine"', "B": "3"}]
    (problem,) = problems
    assert (problem.severity, problem.source.line) == (Severity.ERROR, 3)
    assert "the ad that begins at line 1 runs into another one" in problem.message
