"""The rules of a bundle that may deny or grant something: their names, texts, places and modes."""

import pytest

from negotiator.bundle import load_bundle
from negotiator.bundle.rules import bundle_rules
from negotiator.errors import BundleError

POOL = """\
NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Memory < 128
concurrency_limits: {matlab: 3}
concurrency_limit_modes: {matlab: warn}
quota_set_modes: {lab: dryrun}
policies:
  - name: for-ann
    applies_to: match
    expression: MY.Owner == "ann"
    mode: warn
"""
QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            maxapplications: 7
            resources: {max: {vcore: 8}}
            limits:
              - {limit: each, users: ["*"], maxresources: {vcore: 2}, maxapplications: 1}
            properties: {negotiator.limits.mode: dryrun}
"""
SETS = """\
{
   name    lab
   enabled TRUE
   limit   users {*} to slots=4
}
{
   name    old
   enabled FALSE
   limit   users {*} to slots=1
}
"""
BAD = """
from negotiator.plugin import DeclaredRule, Section, Source, hookimpl
import attrs

@attrs.frozen
class Nothing:
    pass

def rules(settings, root):
    yield DeclaredRule(rule="first", text=root.path, source=Source("pool.yaml", 1))
    yield 1 / 0

@hookimpl
def negotiator_section():
    return Section(schema=Nothing, rules=rules)
"""


@pytest.fixture
def rules(tmp_path):
    """Return a function that writes and reads the rules of a bundle."""

    def read(pool=POOL, queues=QUEUES):
        for name, text in (("pool.yaml", pool), ("queues.yaml", queues), ("a.rqs", SETS)):
            (tmp_path / name).write_text(text)
        return bundle_rules(load_bundle(tmp_path))

    return read


def test_gates_match_expressions_limits_maxima_and_quotas_are_rules(rules):
    found = {
        f"{each.plugin}: {each.rule}": (each.text, str(each.source), str(each.mode)) for each in rules().rules
    }
    assert found == {
        "expressions: NEGOTIATOR_PE_STARTD_ONLY_EXPR": ("MY.Memory < 128", "pool.yaml:1:33", "enforce"),
        "expressions: for-ann": ('MY.Owner == "ann"', "pool.yaml:8:17", "warn"),
        "condor: concurrency limit matlab": ("3", "pool.yaml:2:22", "warn"),
        "limits: limit of user * at root.a": ("vcore 2, applications 1", "queues.yaml:11:17", "dryrun"),
        "maxima: maximum of root.a": ("vcore 8", "queues.yaml:7:13", "enforce"),
        "maxima: maxapplications of root.a": ("7", "queues.yaml:7:13", "enforce"),
        "quotasets: lab/1": ("users {*} to slots=4", "a.rqs:4:4", "dryrun"),
    }


def test_access_control_lists_are_rules_that_grant_something(rules):
    queues = QUEUES.replace("- name: a", "- name: a\n            adminacl: olga", 1)
    found = rules(f"{POOL}scheduleracl: ' operators'\nqueueconfigacl: ' '\n", queues)
    assert [(each.plugin, each.rule, each.text) for each in found.granting] == [
        ("access", "scheduleracl", " operators"),
        ("access", "submitacl of root", "*"),
        ("access", "adminacl of root.a", "olga"),
    ]
    assert not {each.rule for each in found.granting} & {each.rule for each in found.rules}


def test_a_rule_that_moves_stays_the_same_and_one_with_another_text_or_mode_does_not(rules):
    before, moved = rules(), rules(f"# a comment\n{POOL}")
    assert [each.digest for each in moved.rules] == [each.digest for each in before.rules]
    assert str(moved.rules[0].source) == "pool.yaml:9:17"
    changed = rules(POOL.replace("mode: warn", "mode: dryrun"), QUEUES.replace("vcore: 8", "vcore: 9"))
    digests = {each.digest for each in before.rules}
    assert [each.rule for each in changed.rules if each.digest not in digests] == [
        "for-ann",
        "maximum of root.a",
    ]


def test_a_reason_is_of_the_rule_at_its_place_and_of_several_there_of_the_one_with_its_name(rules):
    found = rules()
    assert found.find("limits", "limit of user ann at root.a", "queues.yaml:11:17").text.startswith("vcore 2")
    assert found.find("maxima", "maxapplications of root.a", "queues.yaml:7:13").text == "7"
    assert found.find("maxima", "another", "queues.yaml:7:13") is None
    assert found.find("expressions", "for-ann", "") is None


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("yield 1 / 0", "its rules: ZeroDivisionError"),
        ("yield 5", "its rules: wrong answer: expected a DeclaredRule"),
        ('yield DeclaredRule(rule="", text="")', "its rules: wrong answer: "),
    ],
)
def test_a_plugin_that_fails_to_name_its_rules_is_reported(tmp_path, statement, text):
    (tmp_path / "plugins").mkdir(mode=0o755)
    (tmp_path / "plugins" / "bad.py").write_text(BAD.replace("yield 1 / 0", statement))
    (tmp_path / "pool.yaml").write_text("plugins: {folders: [plugins]}\n")
    found = bundle_rules(load_bundle(tmp_path))
    assert [(each.plugin, each.rule, each.text) for each in found.rules] == [("bad", "first", "root")]
    (failure,) = found.failures
    assert "plugin bad" in str(failure)
    assert text in str(failure)


def test_the_rules_of_a_section_must_be_a_function(tmp_path):
    (tmp_path / "plugins").mkdir(mode=0o755)
    (tmp_path / "plugins" / "bad.py").write_text(BAD.replace("rules=rules", "rules=5"))
    (tmp_path / "pool.yaml").write_text("plugins: {folders: [plugins]}\n")
    with pytest.raises(BundleError, match="expected a function as rules of a Section"):
        load_bundle(tmp_path)
