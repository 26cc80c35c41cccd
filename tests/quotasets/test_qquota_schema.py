"""The XML of qquota, validated by the schema of the plugin: all kinds of rows and names."""

from importlib.resources import files
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from negotiator_quotasets.complexes import STANDARD, Complexes
from negotiator_quotasets.language import SCOPES, NameFilter
from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.qquota.usage_rows import NAMESPACE, UsageRow, xml_lines

SCHEMA = xmlschema.XMLSchema(files("negotiator_quotasets.qquota").joinpath("qquota.xsd").read_text("utf-8"))
SLOTS = Complexes(STANDARD).find("slots")
HOSTS = Hosts([], {})
IN = f"{{{NAMESPACE}}}"

#: Whatever a job ad may hold, half of a pair of surrogates too.
NAMES = st.text(st.characters(), max_size=8)
FILTERS = st.builds(
    NameFilter, st.lists(NAMES, max_size=3).map(tuple), st.lists(NAMES, max_size=2).map(tuple)
)


@st.composite
def rows(draw):
    filters = draw(st.dictionaries(st.sampled_from(SCOPES), FILTERS))
    filters = {scope: filters[scope] for scope in SCOPES if scope in filters}
    values = draw(st.dictionaries(st.sampled_from(SCOPES), NAMES))
    known = {scope: value for scope, value in values.items() if scope in filters}
    return UsageRow(draw(NAMES), filters, known, SLOTS, draw(NAMES), draw(st.none() | NAMES))


def document(*given_rows):
    return "".join(f"{line}\n" for line in xml_lines(given_rows, HOSTS))


def test_the_schema_has_the_printed_namespace():
    assert SCHEMA.target_namespace == NAMESPACE


@given(st.lists(rows(), max_size=3))
def test_the_document_is_valid_whatever_the_names(found):
    text = document(*found)
    SCHEMA.validate(text.encode())
    assert len(ET.fromstring(text)) == len(found)  # noqa: S314 - our own text


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=20)
)
def test_names_are_read_back_unchanged(name):
    """In elements and in quoted attributes."""
    (rule,) = ET.fromstring(document(UsageRow(name, {"users": NameFilter((name,))}, {}, SLOTS, name, name)))  # noqa: S314
    user, limit = rule
    assert (rule.get("name"), user.text or "") == (name, name)
    assert limit.attrib == {"resource": "slots", "limit": name, "value": name}


@pytest.mark.parametrize(
    ("name", "read"), [("a\nb\tc\rd", "a\nb\tc\rd"), ("a\x1bb\x00", "a\ufffdb\ufffd"), ("\ud800", "\ufffd")]
)
def test_characters_that_xml_forbids_are_replaced_and_white_space_is_kept(name, read):
    (rule,) = ET.fromstring(document(UsageRow(name, {"users": NameFilter((name,))}, {}, SLOTS, "5")))  # noqa: S314
    assert (rule.get("name"), rule[0].text) == (read, read)
    assert rule[1].attrib == {"resource": "slots", "limit": "5"}


@pytest.mark.parametrize(
    ("element", "other"),
    [
        (" value='1'", " used='1'"),
        ("<limit resource=", "<limit name="),
        ("<users>", "<user>"),
        ("</users>", "</users><xusers>b</xusers><users>c</users>"),
        (NAMESPACE, "http://example.org/"),
        ("   <limit resource='slots' limit='5' value='1'/>\n", ""),
    ],
)
def test_the_schema_refuses_other_documents(element, other):
    """With a change of any part that a program relies on."""
    text = document(UsageRow("a/1", {"users": NameFilter(("a",))}, {}, SLOTS, "5", "1"))
    SCHEMA.validate(text.encode())
    wrong = text.replace(element, other).replace("</users>" if other == "<user>" else "\0", "</user>")
    assert wrong != text
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        SCHEMA.validate(wrong.encode())
