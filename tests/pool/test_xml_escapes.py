"""Escapes in XML: strings and names have those of the language, below the entities of XML, as HTCondor prints them."""

import sys
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad.syntax import Literal, unparse
from negotiator.pool import read_ads

STRINGS = [
    (r"C:\\Users", "C:\\Users"),
    (r"\\\\server\\share\\", "\\\\server\\share\\"),
    (r"a\nb\tc\r", "a\nb\tc\r"),
    (r"say \"hi\" \'x\' \?", "say \"hi\" 'x' ?"),
    (r"caf\303\251", "café"),
    (r"\377", "\udcff"),
    (r"\101\1018\400", "AA8 0"),
    (r"\q\x41\u0041", "qx41u0041"),
    ("ends with \\", "ends with \\"),
    (r"&lt;\\&amp;\n&gt;", "<\\&\n>"),
    (r"\&lt;", "<"),
    (r"  \a\b\f\v  ", "  \a\b\f\v  "),
    (r"\\n", "\\n"),
    ("", ""),
]


def document(inner):
    return f'<?xml version="1.0"?>\n<classads>\n<c>{inner}</c>\n</classads>\n'


def read(tmp_path, inner):
    path = tmp_path / "ads.xml"
    path.write_text(document(inner), encoding="utf-8")
    return read_ads(path)


@pytest.fixture(scope="module")
def htcondor():
    """HTCondor's library in the mode of the daemons."""
    if not sys.platform.startswith("linux"):
        pytest.skip("HTCondor's library is there for Linux only")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONDOR_CONFIG", "/dev/null")
        pytest.importorskip("htcondor2")  # first, or the library uses another dialect
        return pytest.importorskip("classad2")


@pytest.mark.parametrize(("written", "value"), STRINGS)
def test_strings_are_unescaped(tmp_path, written, value):
    """A string has the escapes of the language, also inside a list and an ad."""
    file = read(tmp_path, f'<a n="A"><s>{written}</s></a><a n="L"><l><s>{written}</s></l></a>')
    ((ad, _),) = file.ads
    assert ad.get("A") == Literal(value)
    assert ad.get("L").items == (Literal(value),)


@pytest.mark.parametrize(("written", "value"), STRINGS)
def test_htcondor_reads_strings_alike(htcondor, written, value):
    """The strings above are those that HTCondor's library reads."""
    (ad,) = htcondor.parseAds(document(f'<a n="A"><s>{written}</s></a>'), htcondor.ParserType.XML)
    assert str(ad.lookup("A")) == unparse(Literal(value))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12))
def test_any_string_that_htcondor_prints_is_read_back(tmp_path_factory, text):
    """HTCondor prints a string with escapes but without escaped quotes, then escapes that for XML."""
    printed = escape(unparse(Literal(text))[1:-1].replace('\\"', '"'))
    ((ad, _),) = read(tmp_path_factory.getbasetemp(), f'<a n="A"><s>{printed}</s></a>').ads
    assert ad.get("A") == Literal(text)


def test_names_are_unescaped(tmp_path):
    """The name of an attribute has escapes too."""
    ((ad, _),) = read(tmp_path, r'<a n="a\\b"><i>1</i></a><a n="\303\251 &lt;"><i>2</i></a>').ads
    assert [name for name, _ in ad.items()] == ["a\\b", "é <"]


def test_expressions_are_unescaped_once(tmp_path):
    """The text of an expression is that of the language: its strings are unescaped by the parser only."""
    ((ad, _),) = read(tmp_path, r'<a n="A"><e>x == "C:\\Users"</e></a>').ads
    assert unparse(ad.get("A")) == r'x == "C:\\Users"'


@pytest.mark.parametrize(
    "inner", [r'<a n="A"><s>a\0b</s></a>', r'<a n="a\000b"><i>1</i></a>', r'<a n="A"><s>\00</s></a>']
)
def test_a_nul_sets_the_ad_aside(tmp_path, inner):
    """No string of the language holds the character NUL, also not escaped."""
    file = read(tmp_path, inner)
    assert file.ads == ()
    assert "NUL" in file.problems[0].message


def test_a_secret_with_an_escaped_name_stays_secret(tmp_path):
    """An attribute that HTCondor would read as ClaimId is removed, however it is spelled."""
    ((ad, _),) = read(
        tmp_path,
        r'<a n="Claim\111d"><s>hidden</s></a><a n="Cl\141imId\163"><s>hidden</s></a><a n="A"><i>1</i></a>',
    ).ads
    assert [name for name, _ in ad.items()] == ["A"]
