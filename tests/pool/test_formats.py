"""JSON, Python literals, XML and the new syntax, and how they are recognised."""

import json

import pytest

from negotiator.pool import bracketed, jsonform, xmlform
from negotiator.pool.bracketed import split_records
from negotiator.records import Severity

XML = '<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n{}\n</classads>\n'


def xml(*ads):
    return XML.format("\n".join(f"<c>{ad}</c>" for ad in ads))


@pytest.mark.parametrize(
    "text",
    [
        'A = 1\nB = "x"\nC = Cpus > 2\n',
        '[{"A": 1, "B": "x", "C": "/Expr(Cpus > 2)/"}]',
        '{"A": 1, "B": "x",\n "C": "\\/Expr(Cpus > 2)\\/"}\n',
        "[{'A': 1, 'B': 'x', 'C': '/Expr(Cpus > 2)/'}]",
        xml('<a n="A"><i>1</i></a><a n="B"><s>x</s></a><a n="C"><e>Cpus &gt; 2</e></a>'),
        '[ A = 1; B = "x"; C = Cpus > 2 ]',
        '/* made by hand */ // indeed\n[\nA = 1;\nB = "x";\nC = Cpus > 2; ]\n',
        '{ [ A = 1; B = "x"; C = Cpus > 2 ] }',
        '\ufeff[ A = 1; B = "x"; C = Cpus > 2 ]',
        '\n\n  # condor_status -long\n A = 1\n B = "x"\n C = Cpus > 2\n',
    ],
)
def test_the_same_ad_in_every_format(ads, text):
    """The format is recognised by the content alone, and the ad is the same."""
    found, problems = ads(text)
    assert found == [{"A": "1", "B": '"x"', "C": "Cpus > 2"}]
    assert problems == ()


@pytest.mark.parametrize(
    "text",
    [
        '[{"A": 1}, {"A": 2}]',
        '{"A": 1}\n{"A": 2}\n',
        "[{'A': 1}, {'A': 2}]",
        xml('<a n="A"><i>1</i></a>', '<a n="A"><i>2</i></a>'),
        "[A = 1]\n[A = 2]\n",
        "{ [A = 1], [A = 2] }",
    ],
)
def test_several_ads_in_a_file(ads, text):
    """Arrays, an object a line, and ads one after the other are all read."""
    found, problems = ads(text)
    assert found == [{"A": "1"}, {"A": "2"}]
    assert problems == ()


@pytest.mark.parametrize("text", ["[]", "[\n]\n", xml(), "{ }\n"])
def test_an_empty_list_of_ads_is_not_an_error(snapshot, text):
    """The output of the tools for an empty pool gives a warning at most."""
    pool = snapshot(text)
    assert all(problem.severity is not Severity.ERROR for problem in pool.problems)


@pytest.mark.parametrize(
    "text",
    [
        "Owner AcctGroup QDate\n2648c1 b387f8 1526661075\n",
        "a,b,c\n1,2,3\n",
        "11/20/26 18:00:00 ---------- Started Negotiation Cycle ----------\n",
        "\x7fELF\x02\x01\x01\x00\x00",
        "x" * 2_000_000,
        "A\0 =\0 1\0\n",
    ],
)
def test_a_file_that_holds_no_ads_is_one_problem(snapshot, text):
    """Tables, logs and binaries are not taken for ads."""
    (problem,) = snapshot(text).problems
    assert problem.severity is Severity.ERROR
    assert "holds no ads" in problem.message
    assert "-long" in problem.hint


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[{"A": 1},\n {"A" 5},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"A": nope},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"A": "/Expr(1 +)/"},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"A": "\\u0000"},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"A": "\\ud800"},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"A": {"\\ud800": 1}},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"": 1},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"A": "x},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"A": ' + "9" * 5000 + '},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"A": ' + "[" * 500 + "]" * 500 + '},\n {"A": 3}]', 2),
        ('[{"A": 1},\n {"A": ' + '{"x":' * 50_000 + "1" + "}" * 50_000 + '},\n {"A": 3}]', 2),
        ("[{'A': 1},\n {'A': {1, 2}},\n {'A': 3}]", 2),
        ("[{'A': 1},\n {'A': b'x'},\n {'A': 3}]", 2),
        ("[{'A': 1},\n {'A': __import__('os')},\n {'A': 3}]", 2),
        ("[{'A': 1},\n {5: 1},\n {'A': 3}]", 2),
        ("[{'A': 1},\n {'A': {5: 1}},\n {'A': 3}]", 2),
        ("[{'A': 1},\n {'A': " + "-" * 5000 + "1},\n {'A': 3}]", 2),
        ("[A = 1]\n[A = 1 +]\n[A = 3]", 2),
        ("[A = 1]\n[A = 1; B 2]\n[A = 3]", 2),
        ('[A = 1]\n[A = "x]\n[A = 3]', 2),
        ("[A = 1]\n[A = " + "(" * 5000 + ")" * 5000 + "]\n[A = 3]", 2),
        ("[A = 1]\n[A = " + "{" * 5000 + "}" * 5000 + "]\n[A = 3]", 2),
        (xml('<a n="A"><i>1</i></a>', '<a n="A"><i>x</i></a>', '<a n="A"><i>3</i></a>'), 5),
        (xml('<a n="A"><i>1</i></a>', '<a n="A"><r>1_0</r></a>', '<a n="A"><i>3</i></a>'), 5),
        (xml('<a n="A"><i>1</i></a>', '<a n="A"><b v="x"/></a>', '<a n="A"><i>3</i></a>'), 5),
        (xml('<a n="A"><i>1</i></a>', '<a n="A"><e>1 +</e></a>', '<a n="A"><i>3</i></a>'), 5),
        (xml('<a n="A"><i>1</i></a>', '<a n="A"/>', '<a n="A"><i>3</i></a>'), 5),
        (xml('<a n="A"><i>1</i></a>', "<a><i>1</i></a>", '<a n="A"><i>3</i></a>'), 5),
        (xml('<a n="A"><i>1</i></a>', "<i>1</i>", '<a n="A"><i>3</i></a>'), 5),
        (xml('<a n="A"><i>1</i></a>', '<a n="A"><z>1</z></a>', '<a n="A"><i>3</i></a>'), 5),
    ],
)
def test_one_bad_ad_is_set_aside_and_the_others_are_read(ads, text, line):
    """An ad that does not parse, in any format, is one problem with its line; those around it are read."""
    found, (problem,) = ads(text)
    assert found == [{"A": "1"}, {"A": "3"}]
    assert problem.severity is Severity.ERROR
    assert "set aside" in problem.message
    assert problem.source.line == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[{"A": 1},\n{"A": 2', 2),
        ('[{"A": 1},\n{"A": "2', 2),
        ("[A = 1]\n[A = 2; /* ]", 2),
        (xml('<a n="A"><i>1</i></a>').removesuffix("</classads>\n") + "<c><a", 5),
        (xml('<a n="A"><i>1</i></a>', "&bomb;"), 5),
        (xml('<a n="A"><i>1</i></a>', '<a n="A">' + "<l>" * 5000), 5),
    ],
)
def test_the_ads_before_the_place_where_a_text_ends_early_count(ads, text, line):
    """A text that ends in the middle, or cannot be read further, gives the ads before that place and says where."""
    found, problems = ads(text)
    assert found == [{"A": "1"}]
    assert "nothing is read from here on" in problems[-1].message
    assert problems[-1].source.line == line


def test_entities_are_refused(ads):
    """A document that declares entities (the billion laughs) is not expanded."""
    found, (problem,) = ads(
        '<!DOCTYPE x [<!ENTITY a "ha">]>\n<classads><c><a n="A"><s>&a;</s></a></c></classads>'
    )
    assert found == []
    assert "entities" in problem.message


def test_html_is_rejected(ads):
    """XML of another kind is refused at its first element."""
    _, (problem,) = ads("<html><c></c></html>")
    assert "neither <classads> nor <c>" in problem.message


def test_xml_values_of_every_kind(ads):
    """Every element of HTCondor's XML becomes its value."""
    values = [
        "<i>-5</i>",
        "<i>9223372036854775808</i>",
        "<r>1.500000000000000E+00</r>",
        '<s> a &amp; "b" </s>',
        '<b v="t"/>',
        '<b v="f"/>',
        "<un/>",
        "<er/>",
        "<l><i>1</i><s>x</s></l>",
        '<c><a n="X"><i>1</i></a></c>',
        "<e>a &lt; b</e>",
        "<s></s>",
    ]
    (ad,), problems = ads(xml("".join(f'<a n="A{n}">{value}</a>' for n, value in enumerate(values))))
    assert list(ad.values()) == [
        *("-5", "error", "1.500000000000000E+00", '" a & \\"b\\" "', "true", "false", "undefined", "error"),
        *('{ 1,"x" }', "[ X = 1 ]", "a < b", '""'),
    ]
    assert problems == ()


def test_xml_times(ads):
    """Absolute and relative times are read as the language reads them."""
    (ad,), problems = ads(xml('<a n="A"><at>2020-01-02T03:04:05+02:00</at></a><a n="R"><rt>1:00</rt></a>'))
    assert ad["A"] == 'absTime("2020-01-02T03:04:05+02:00")'
    assert ad["R"] == 'relTime("01:00")'
    assert problems == ()


def test_xml_with_bytes_that_are_not_utf8_is_read_with_a_warning(ads):
    """One byte of another encoding does not cost a whole pool."""
    (ad,), (problem,) = ads(xml('<a n="A"><s>caf%</s></a>').encode().replace(b"%", b"\xe9"))
    assert ad["A"] == r'"caf\357\277\275"'  # as unparse writes U+FFFD
    assert problem.severity is Severity.WARNING


def test_json_values_of_every_kind(ads):
    """JSON values become ClassAd values; integers beyond 64 bits are 0, as in an expression."""
    text = (
        '[{"A": null, "B": true, "C": 1.5, "D": [1, "x"], "E": {"X": 1}, "F": 9223372036854775808, "a": 7}]'
    )
    assert ads(text) == (
        [{"A": "7", "B": "true", "C": "1.500000000000000E+00", "D": '{ 1,"x" }', "E": "[ X = 1 ]", "F": "0"}],
        (),
    )


@pytest.mark.parametrize(
    "text",
    [
        '[{"A": 1}, {"A": "' + "x" * 600_000 + '"}]',
        "[A = 1]\n[" + " " * 600_000 + "]",
        "[A = 1]\n" + '"' + "x" * 600_000,
        xml('<a n="A"><i>1</i></a>', '<a n="A"><s>' + "x" * 600_000 + "</s></a>"),
    ],
)
def test_an_ad_too_long_ends_the_reading_of_its_file(ads, monkeypatch, text):
    """An overlong ad is not held in memory; the ads before it count."""
    monkeypatch.setattr(bracketed, "MAX_AD", 1000)
    monkeypatch.setattr(xmlform, "MAX_AD", 1000)
    found, problems = ads(text)
    assert found == [{"A": "1"}]
    assert "nothing is read from here on" in problems[-1].message
    assert "more than 1000 characters" in problems[-1].message


def test_an_ad_too_long_that_ends_is_set_aside(ads, monkeypatch):
    """If the end of an overlong ad is found, the ads after it are read."""
    monkeypatch.setattr(bracketed, "MAX_AD", 1000)
    found, (problem,) = ads('[{"A": 1}, {"A": "' + "x" * 5000 + '"}, {"A": 3}]')
    assert found == [{"A": "1"}, {"A": "3"}]
    assert "more than 1000 characters" in problem.message


def test_text_between_ads_is_reported_once(ads):
    """Text that belongs to no ad is ignored, with one warning."""
    found, (problem,) = ads('[{"A": 1}, 5, {"A": 2}, 6]\nthe end')
    assert found == [{"A": "1"}, {"A": "2"}]
    assert (problem.severity, problem.source.line, problem.source.column) == (Severity.WARNING, 1, 12)


def test_a_fault_of_json_is_shown_with_its_line(ads):
    """If the ad has no secret, the faulty line is shown, and the column counts in the file."""
    _, (problem,) = ads('[\n  {\n    "A": 1,\n    "B" 2\n  }\n]\n')
    assert (problem.source.line, problem.source.column) == (4, 9)
    assert problem.excerpt == '    "B" 2'


@pytest.mark.parametrize(
    ("text", "column"),
    [('[{"A": 1}, {"A" 5}]', 17), ("[A = 1] [A = )]", 14), ('[\n{"A": 1},   {"A": "/Expr(1 +)/"}]', 13)],
)
def test_columns_count_in_the_file(ads, text, column):
    """The column of a fault is that of the file, though ads are parsed one by one."""
    _, (problem,) = ads(text)
    assert problem.source.column == column


@pytest.mark.parametrize("size", [1, 2, 3, 5, 11])
@pytest.mark.parametrize(
    ("opening", "text", "expected"),
    [
        (
            "{",
            '[{"a": "}\\"{", "b": [1]},\n{"c": {}}]',
            [('{"a": "}\\"{", "b": [1]}', 1, 2), ('{"c": {}}', 2, 1)],
        ),
        (
            "[",
            "[a = '}';\n/* ] */ b = 2]\n// [\n [c=\"]\"]",
            [("[a = '}';\n/* ] */ b = 2]", 1, 1), ('[c="]"]', 4, 2)],
        ),
    ],
)
def test_records_do_not_depend_on_where_blocks_end(size, opening, text, expected):
    """Brackets in strings and comments do not count, and neither does where a block of text ends."""
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    assert [tuple(record[:3]) for record in split_records(blocks, opening)] == expected


def test_splitting_hostile_text_takes_linear_time():
    """Quotes, escapes and comments that never end are scanned once."""
    for piece in ('"\\', "'\"", "/*", "//", "{", '"\n', "\\"):
        count = sum(1 for _ in split_records(["[" + piece * 300_000], "["))
        assert count <= 1


def test_python_literals_are_bounded(ads, monkeypatch):
    """Python's parser is given texts of limited length only."""
    monkeypatch.setattr(jsonform, "MAX_LITERAL", 20)
    found, problems = ads("[{'A': 1}, {'A': '" + "x" * 30 + "'}]")
    assert found == [{"A": "1"}]
    assert len(problems) == 1


def test_json_lines_are_numbered(snapshot):
    """Each object of a JSON-lines file has its own line."""
    pool = snapshot("\n".join(json.dumps({"MyType": "Job", "Owner": "u"}) for _ in range(3)))
    assert [problem.source.line for problem in pool.problems] == [1, 2, 3]
