"""Texts of ``queues.yaml`` that older documents or other systems read differently."""

import pytest

from negotiator.bundle import check_bundle
from negotiator.records import Severity

TOP = "partitions:\n  - name: default\n    queues:\n"


@pytest.fixture
def problems(tmp_path):
    """Return a function that checks a bundle with a ``queues.yaml``, and returns its problems."""

    def check(queues):
        (tmp_path / "queues.yaml").write_text(queues)
        return list(check_bundle(tmp_path))

    return check


@pytest.mark.parametrize("key", ["submitacl", "adminacl"])
@pytest.mark.parametrize("blank", ["  ", "    ", r"\t", r"\n"])
def test_a_blank_list_of_more_than_one_space_is_refused(problems, key, blank):
    """A single space is a list without entries; more than one space is an error everywhere."""
    (problem,) = problems(f'{TOP}      - name: root\n        {key}: "{blank}"\n')
    assert (problem.severity, problem.code, problem.source.line) == (Severity.ERROR, "acl_syntax", 5)
    for empty in ("", '""', '" "'):
        assert problems(f"{TOP}      - name: root\n        {key}: {empty}\n") == []


def test_a_blank_number_is_refused(problems):
    """White space in quotes is not a missing value."""
    (problem,) = problems(f'{TOP}      - name: other\n        maxapplications: "  "\n')
    assert problem.code == "yaml_schema"


def test_a_root_queue_beside_others_is_warned_of(problems):
    """YuniKorn puts both below a root queue without lists, so the lists of the written root apply only to root.root."""
    beside = TOP + '      - name: Root\n        submitacl: "*"\n      - name: other\n'
    (problem,) = problems(beside)
    assert (problem.severity, problem.source.line) == (Severity.WARNING, 4)
    assert "root.root" in problem.message
    assert problems(beside.replace("Root", "first")) == []
    assert (
        problems(TOP + '      - name: Root\n        submitacl: "*"\n        queues: [{name: other}]\n') == []
    )


def test_a_queue_with_children_is_a_parent_whatever_its_key_says(problems):
    """As in YuniKorn; a warning says so."""
    rule = "    placementrules:\n      - {name: fixed, value: root.full}\n"
    warned, refused = problems(TOP + "      - {name: full, parent: false, queues: [{name: leaf}]}\n" + rule)
    assert (warned.severity, refused.code) == (Severity.WARNING, "rule_target_not_leaf")


def test_filters_and_parents_may_be_texts_in_the_file(problems):
    """As the document "Scheduler Configuration" writes them."""
    rules = "    placementrules:\n      - {name: user, create: true, parent: root.above, filter: {users: 'a,b'}}\n"
    assert problems(TOP + "      - {name: above, parent: true}\n" + rules) == []
    (problem,) = problems(TOP + "      - {name: above}\n" + rules)
    assert problem.code == "rule_target_not_leaf"
    (problem,) = problems(TOP + "      - {name: above, parent: true}\n" + rules.replace("a,b", "a,b*"))
    assert (problem.severity, problem.source.line) == (Severity.WARNING, 6)


@pytest.mark.parametrize("rule", ["provided", "user"])
def test_a_value_of_a_rule_that_takes_none_has_a_notice(problems, rule):
    """YuniKorn accepts and ignores it."""
    text = f"{TOP}      - name: one\n    placementrules:\n      - {{name: {rule}, VALUE}}\n"
    (problem,) = problems(text.replace("VALUE", "value: one"))
    assert (problem.severity, problem.source.line) == (Severity.NOTICE, 6)
    assert problems(text.replace(", VALUE", "")) == []
