"""Long form, as condor_status -long, condor_q -long and condor_history -long print it."""

import json

import pytest

from negotiator.classad.tables import dictionary, distinct_values
from negotiator.pool import line_reader, longform, read_ads
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.longform import read_long, whole_lines
from negotiator.records import Severity


def test_blank_lines_separate_ads(ads):
    """Each attribute has a line of its own, and its expression as written."""
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
def test_lines_of_history_files_and_of_condor_q_separate_ads(ads, line):
    """A *** line of a history file and the -- line of condor_q end an ad and are not attributes of it."""
    found, problems = ads(f"{line}\nA = 1\n{line}\nA = 2\n{line}\n")
    assert found == [{"A": "1"}, {"A": "2"}]
    assert problems == ()


def test_what_htcondor_ignores_is_ignored(ads):
    """Comments, carriage returns, indentation, and text after a complete expression are no faults."""
    found, problems = ads('# a comment = 5\r\n\tA = 5 5\r\nB = "x" // y\r\nMY.C = 1\r\n')
    assert found == [{"A": "5", "B": '"x"', "MY.C": "1"}]
    assert problems == ()


def test_the_last_attribute_of_a_name_counts_whatever_the_case(ads):
    """Names are compared without case, also on lines that were seen before."""
    found, _ = ads("A = 1\na = 2\n\nA = 1\na = 2\nA = 1\n")
    assert [list(ad.values()) for ad in found] == [["2"], ["1"]]


@pytest.mark.parametrize("name", ["*x", "-x", "--x", "**", "x#y"])
def test_a_name_may_begin_with_a_star_or_a_minus(ads, name):
    """Only lines that begin with ``***``, ``-- `` or ``#`` are not attributes."""
    found, problems = ads(f"A = 1\n{name} = 5\n\nB = 2\n{name} = 6\n")
    assert found == [{"A": "1", name: "5"}, {"B": "2", name: "6"}]
    assert problems == ()


def test_names_of_other_formats_do_not_change_what_a_line_is(tmp_path):
    """A name of JSON may be a comment in long form, or hold a ``=``; a file read later is read as without it."""
    (tmp_path / "1.json").write_text(json.dumps([{"# a": 1, "b=c": 2, "-- d": 3, "e ": 4}]))
    (tmp_path / "2.ads").write_text('A = 1\n# a = 5\nb=c = 6\n\n-- d = 7\ne  = 8\n"f" = 9\n')
    file = read_ads(tmp_path)
    assert [list(ad.names()) for ad, _ in file.ads[1:]] == [["A", "b"], ["e", '"f"']]


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
    assert problem.excerpt == line.replace("\0", "\N{REPLACEMENT CHARACTER}")


def test_control_characters_of_a_bad_line_are_not_shown(ads):
    """Escape sequences and bytes that are not UTF-8 are neither in the message nor in the excerpt."""
    _, (problem,) = ads(b"A = 1\nB\x1b[31m\xff = (\n")
    assert (problem.message + problem.excerpt).isprintable()
    assert problem.excerpt == "B\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER} = ("


def test_bytes_that_are_not_utf8_are_preserved(ads):
    """A byte that is not UTF-8 comes out as it went in."""
    (ad,), problems = ads(b'A = "caf\xe9"\n')
    assert ad["A"] == r'"caf\351"'  # as unparse writes the byte
    assert problems == ()


def test_the_first_byte_of_a_character_at_the_end_of_a_file_is_read(ads):
    """A file that was cut within a line is not read as a complete one."""
    found, (problem,) = ads(b"A = 1\n\xc3")
    assert (found, problem.source.line) == ([], 2)


def test_a_line_too_long_sets_its_ad_aside(ads):
    """A line of more than a megabyte is not parsed, and the next ad is read."""
    found, (problem,) = ads('A = 1\n\nB = "' + "x" * (3 << 20) + '"\nC = 1\n\nA = 2\n')
    assert found == [{"A": "1"}, {"A": "2"}]
    assert "more than 1048576 characters" in problem.message
    assert problem.source.line == 3


def test_an_overlong_line_of_a_known_attribute_sets_its_ad_aside_too():
    """Also where a block ends such that the part that is read is a complete string."""
    line = 'A = "' + "x" * longform.MAX_LINE + '"'
    for blocks in (["A = 1\n\n", f"{line}\n"], ["A = 1\n\n", line, "x\n"]):
        ad, problem = read_long(blocks, "f", pool_dictionary())
        assert ad.ad.names() == ("A",)
        assert "more than 1048576 characters" in problem.message


def test_lines_do_not_grow_without_bound():
    """An endless line is cut a little above the limit, and a long text is split into blocks of about that size."""
    blocks = ["x" * 1000] * 5000
    assert max(map(len, whole_lines(blocks))) <= longform.MAX_LINE + (1 << 17)
    assert max(map(len, whole_lines(["A = 1\n" * 1_000_000]))) <= longform.MAX_LINE + (1 << 17)


@pytest.mark.parametrize("size", [10, 10_000])
def test_an_ad_with_too_many_characters_is_set_aside(monkeypatch, size):
    """Also if it is within one block."""
    monkeypatch.setattr(line_reader, "MAX_AD", 1000)
    text = "A = 1\n\n" + "".join(f"B{number} = 1\n" for number in range(200)) + "\nA = 2\n"
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    one, problem, two = read_long(blocks, "f", pool_dictionary())
    assert (one.ad.names(), two.ad.names()) == (("A",), ("A",))
    assert "it has more than 1000 characters" in problem.message
    assert problem.source.line == 3


def test_an_ad_with_too_many_attributes_is_set_aside(ads):
    """An ad of a hundred thousand attributes is one problem; the next ad is read."""
    found, (problem,) = ads("\n".join(f"A{n} = {n}" for n in range(100_000)) + "\n\nA = 2\n")
    assert found == [{"A": "2"}]
    assert "more than 10000 attributes" in problem.message


def test_comments_and_secrets_do_not_count_as_attributes(ads):
    """An ad may have any number of them; an attribute on two lines counts twice."""
    text = "A = 1\n" + "# a comment\nClaimId = 1\n" * 10_000 + "A = 2\n" * 9_999
    assert ads(text) == ([{"A": "2"}], ())
    _, (problem,) = ads(text + "A = 3\n")
    assert "more than 10000 attributes" in problem.message


TWICE = 'MyType = "Job"\nmytype = "Job"\n'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"{TWICE}B = (\n", 2, "a second MyType"),
        (f"B = (\n{TWICE}", 1, "B does not parse"),
        (f"MyType = 1\nB = (\nMyType = 2\n{TWICE}", 2, "B does not parse"),
        ("A = 1\n" * 20 + "B = (\n", 1, "more than 10 attributes"),
        ("A = 1\n" * 10 + "B = (\n" + "A = 1\n" * 20, 11, "B does not parse"),
        ("no equals\nB = (\n", 1, "no '='"),
    ],
)
@pytest.mark.parametrize("size", [1, 20, 1000])
def test_of_several_faults_the_first_is_reported(monkeypatch, text, line, message, size):
    """The first fault of an ad is its problem, wherever blocks end."""
    monkeypatch.setattr(line_reader, "MAX_ATTRIBUTES", 10)
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    (problem,) = read_long(blocks, "f", pool_dictionary())
    assert problem.source.line == line
    assert message in problem.message


@pytest.mark.parametrize("size", [2, 7, 1000])
def test_the_lines_below_a_fault_are_not_parsed(size):
    """The rest of a faulty ad is skipped, wherever blocks end, and the next ad is read, with its own line number."""
    text = (
        "A = (\n"
        + "".join(f"Name{n} = {n}\n" for n in range(200))
        + "\nB = 1\n*** X = 1\nC = (\nD = 1\n\nE = 1"
    )
    known = pool_dictionary()
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    found = list(read_long(blocks, "f", known))
    assert [each.source.line for each in found] == [1, 203, 205, 208]
    assert [hasattr(each, "ad") for each in found] == [False, True, False, True]
    if size < len(text):
        assert len(known.entries) < 200


@pytest.mark.parametrize(
    "text", ["A = 1\nB = 2\n\nC = 3\nA = 1\n\nA = 1\nB = 7\n", '[{"A":1,"B":2},{"C":3,"A":1},{"A":1,"B":7}]']
)
def test_the_number_of_names_in_a_pool_is_limited(monkeypatch, ads, text):
    """An ad with a name beyond the limit is set aside; ads with known names are read."""
    monkeypatch.setattr(dictionary, "MAX_NAMES", 5)
    found, (problem,) = ads(text)
    assert [ad["B"] for ad in found] == ["2", "7"]
    assert "the ads have more than 5 attributes of different names" in problem.message


def test_lines_in_common_are_parsed_once():
    """The dictionary gives the same tree for a line that two ads share."""
    known = pool_dictionary()
    one, two = read_long(["A = Cpus + 1\n\nA = Cpus + 1\nB = 2\n"], "f", known)
    assert one.ad.get("A") is two.ad.get("A")
    assert set(known.lines) == {"", "A = Cpus + 1", "B = 2"}


def test_secrets_are_not_remembered():
    """The dictionary does not store the text of a line with a secret, whether a constant or not."""
    known = pool_dictionary()
    text = 'A = 1\nClaimId = "<1.2.3.4:5>#6"\nCapability = strcat("a", "b")\n\n'
    assert [found.ad.names() for found in read_long([text * 2], "f", known)] == [("A",), ("A",)]
    assert set(known.lines) == {"", "A = 1"}


def test_the_number_of_remembered_lines_is_limited(monkeypatch):
    """It stays within the limits for all attributes and for each; the ads are the same."""
    monkeypatch.setattr(dictionary, "MAX_LINES", 20)
    monkeypatch.setattr(distinct_values, "MAX_LINES_EACH", 5)
    known = pool_dictionary()
    text = "".join(f"A{n} = {n}\n" for n in range(30))
    texts = [f'{text}B = {n}\nC = "x{n}"\nD = {n}.5\nE = B + {n}\n\n' for n in range(40)]
    ads = [found.ad for found in read_long(texts, "f", known)]
    assert [len(ad) for ad in ads] == [34] * 40
    assert [(ad.integer("b"), ad.string("c"), ad.real("d"), ad.evaluate("E")) for ad in ads] == [
        (n, f"x{n}", n + 0.5, 2 * n) for n in range(40)
    ]
    assert len(known.lines) <= 20


def test_equal_lines_of_a_block_are_remembered_once(monkeypatch):
    """A line that all ads of a block share counts once for the limit of its attribute."""
    monkeypatch.setattr(distinct_values, "MAX_LINES_EACH", 2)
    known = pool_dictionary()
    list(read_long(["A=B + 1\n\n" * 5 + "A=2\n\n" + "A=3\n"], "f", known))
    assert set(known.lines) == {"", "A=B + 1", "A=2"}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_whole_lines_do_not_depend_on_where_blocks_end(size):
    """The blocks given may end anywhere."""
    text = "a = 1\r\n\nb = 2\n\n\nc"
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    assert "".join(whole_lines(blocks)) == text


LONG = (
    '# a comment\n\n# another\nMyType = "Machine"\nName = "s1"\nCpus=4\n  Memory = 5 \nDisk = 2.5\nnote = "x"\n\n'
    '\n*** a = 1\nName = "s2"\nCpusMore = 1\ncpus = 8\nCPUS = 9\nZ = 1\n\nZ = 1\n\n'
    'Name = "s3"\nZ = (\n\nClaimId = "x"\nCpus = (\n\nMyType = "Job"\nMyType = "Job"\nCpus = 1\n-- Schedd: x\nCpus = 3\n\n'
    'Owner = "Zoë"\nÄ = 2\nOwner2 = "\udcff"\n'
)


@pytest.mark.parametrize("size", [1, 5, 60, 200])
def test_ads_and_problems_do_not_depend_on_where_blocks_end(size):
    """The same attributes, lines and faults, also beside text that is not ASCII."""
    blocks = [LONG[at : at + size] for at in range(0, len(LONG), size)]
    in_pieces = list(read_long(blocks, "f", pool_dictionary()))
    at_once = list(read_long([LONG], "f", pool_dictionary()))
    assert len(at_once) == 8
    for one, other in zip(in_pieces, at_once, strict=True):
        if hasattr(other, "ad"):
            assert (list(one.ad.items()), one.source) == (list(other.ad.items()), other.source)
        else:
            assert one == other


def test_two_ads_that_run_into_each_other_are_set_aside(ads):
    """If files without a blank line at the end are joined, one of the two ads would be lost silently."""
    found, problems = ads('MyType = "Job"\nA = 1\nmytype = "Machine"\nB = 2\n\nMyType = "Machine"\nB = 3\n')
    assert found == [{"MyType": '"Machine"', "B": "3"}]
    (problem,) = problems
    assert (problem.severity, problem.source.line) == (Severity.ERROR, 3)
    assert "the ad that begins at line 1 runs into another one" in problem.message
