"""The rule sets of a bundle: all files ``*.rqs`` as one list."""

import pytest
import yaml

from negotiator.bundle import check_bundle, load_bundle
from negotiator.plugin import Severity
from negotiator_quotasets.settings import QuotaSettings, check, superseding_line
from quota_sets import ENGINE, rules, write


def files(folder, **texts):
    write(folder, "", ENGINE)
    for name, text in texts.items():
        (folder / f"{name}.rqs").write_text(text)
    return folder


def names(folder):
    return [each.name for each in load_bundle(folder).settings["quotasets"].sets]


def problems(folder):
    return [(str(each.source), each.severity, each.message) for each in check_bundle(folder)]


def test_the_sets_of_all_files_are_one_list_in_the_order_of_their_names(tmp_path):
    """Within a file, in the order of the file."""
    own = files(
        tmp_path,
        b=rules("to slots=1", name="one"),
        a=rules("to slots=1", name="z") + rules("to lic=1", name="y"),
    )
    assert names(own) == ["z", "y", "one"]
    assert problems(own) == []


def test_without_files_there_are_no_sets(tmp_path):
    """Nor in an empty file."""
    assert names(files(tmp_path, a="# nothing\n")) == []
    assert QuotaSettings().sets == ()
    assert list(check(QuotaSettings())) == []


def test_two_sets_of_one_name_are_refused(tmp_path):
    """In one file or in two; the second is reported."""
    own = files(tmp_path, a=rules("to slots=1"), b="\n" + rules("to slots=2"))
    assert [(place.partition(":")[0], message) for place, _, message in problems(own)] == [
        ("b.rqs", 'resource quota set "r" is in a.rqs too')
    ]
    assert len(problems(files(tmp_path / "2", a=rules("to slots=1") * 2))) == 1


def test_all_problems_are_reported_at_once(tmp_path):
    """Of each file, with line and column."""
    own = files(tmp_path, a=rules("to nothing=1", "to slots=x"), b=rules("users to slots=1", name="b"))
    places = [place for place, *_ in problems(own)]
    assert len(places) >= 3
    assert all(place.split(":")[:2] in (["a.rqs", "3"], ["a.rqs", "4"], ["b.rqs", "3"]) for place in places)


def test_problems_of_the_objects_are_reported_first(tmp_path):
    """Rules can't be checked without them."""
    own = files(tmp_path, a=rules("to nothing=1"))
    (own / "gridengine.yaml").write_text("complex_values: {none: 1}\n")
    assert [place.partition(":")[0] for place, *_ in problems(own)] == ["gridengine.yaml"]


def test_numbers_of_hosts_other_than_processors_need_a_switch(tmp_path):
    """The first step of the specification allows ``$num_proc`` only."""
    own = files(tmp_path, a=rules("hosts {*} to slots=$mem_total*2"))
    assert len(problems(own)) == 1
    (own / "gridengine.yaml").write_text("numeric_formulas: true\n")
    assert problems(own) == []


def test_a_file_may_supersede_others(tmp_path):
    """They are then not read, and reported as left over."""
    own = files(
        tmp_path,
        a=rules("to slots=1", name="old"),
        b=superseding_line(["a.rqs", "b.rqs"]) + rules("to slots=1", name="new"),
    )
    assert names(own) == ["new"]
    assert [(place, str(severity)) for place, severity, _ in problems(own)] == [("a.rqs:1:1", "warning")]


@pytest.mark.parametrize("names", [[], ["a.rqs"], ["a.rqs", "b.rqs"]])
def test_the_superseding_line_is_read_back(names):
    settings = QuotaSettings({"z.rqs": superseding_line(names), **dict.fromkeys(names, "")})
    assert settings.superseded == set(names)
    assert superseding_line([]) == ""


def test_a_folder_with_rule_sets_alone_is_a_bundle(tmp_path):
    """All else has its defaults."""
    folder = tmp_path / "sets"
    folder.mkdir(mode=0o755)
    (folder / "a.rqs").write_text(rules("to slots=1", name="one"))
    assert names(folder) == ["one"]
    assert problems(folder) == []


def test_a_folder_without_a_file_of_any_plugin_is_refused_with_the_files_that_count(tmp_path):
    folder = tmp_path / "other"
    folder.mkdir(mode=0o755)
    (folder / "a.txt").write_text(rules("to slots=1", name="one"))
    ((_, _, message),) = problems(folder)
    assert message.startswith("not a policy bundle: none of pool.yaml, queues.yaml, *.conf, *.rqs, ")


@pytest.mark.parametrize(
    ("resource", "hint"),
    [
        ("slotz", "did you mean slots? complexes are declared in gridengine.yaml, by hand or with qconf -Mc"),
        ("a_licence", "complexes are declared in gridengine.yaml, by hand or with qconf -Mc"),
    ],
)
def test_an_unknown_complex_comes_with_a_hint_where_to_declare_it(tmp_path, resource, hint):
    write(tmp_path, rules(f"to {resource}=1", name="one"), ENGINE)
    (problem,) = check_bundle(tmp_path)
    assert problem.hint == hint


OBJECTS = {
    "usersets": {"staff": ["a"]},
    "hostgroups": {"@Lab": ["n1"]},
    "projects": ["p1"],
    "pes": {"mpi": "$fill_up"},
    "queues": {"all.q": {"slots": 1}},
}
UNKNOWN = [
    ("users @stuff", 'user set "@stuff"'),
    ("users {*,!@stuff}", 'user set "@stuff"'),
    ("users @", 'user set "@"'),
    ("users @x*", 'user set "@x*"'),
    ("projects p2", 'project "p2"'),
    ("projects !q*", 'project "q*"'),
    ("pes smp", 'parallel environment "smp"'),
    ("queues al.q", 'queue "al.q"'),
    ("queues {all.q,mem*}", 'queue "mem*"'),
    ("hosts {@labb}", 'host group "@labb"'),
]
KNOWN = [
    *("users a,@staff,@s*", "users nobody", "users !*", "projects p1,p?", "projects *", "pes {mpi,!*}"),
    *("queues all.q,a*.q", "queues long,root.long", "queues LONG", "hosts @lab,{n2}", "hosts nowhere", ""),
]


def bundle_of(folder, *filters, objects=OBJECTS, placement=()):
    """Write a bundle with a rule for each filter, and a queue ``long``."""
    queues = {"name": "root", "queues": [{"name": "long"}]}
    partition = {"name": "default", "queues": [queues], "placementrules": list(placement)}
    (folder / "queues.yaml").write_text(yaml.safe_dump({"partitions": [partition]}))
    (folder / "gridengine.yaml").write_text(yaml.safe_dump(objects))
    (folder / "a.rqs").write_text(rules(*(f"{each} to slots=1" for each in filters)))
    return folder


@pytest.mark.parametrize(("filter_", "named"), UNKNOWN)
def test_a_name_in_a_rule_that_no_object_has_is_a_warning(tmp_path, filter_, named):
    """With the line of the rule: it never applies, or excludes nothing."""
    found = problems(bundle_of(tmp_path, "users a", filter_))
    assert found == [
        ("a.rqs:4:2", Severity.WARNING, f'resource quota rule "r/2": there is no {named}'),
    ]


def test_names_of_objects_in_rules_are_no_problem(tmp_path):
    """Groups and wildcards too; names of users and hosts are those of the pool."""
    assert problems(bundle_of(tmp_path, *(each.replace("{n2}", "n2") for each in KNOWN))) == []


def test_names_that_the_pool_brings_are_not_looked_up(tmp_path):
    """Queues that a placement rule creates, and projects and environments where no objects are declared."""
    placement = [{"name": "user", "create": False, "parent": {"name": "tag", "value": "ns", "create": True}}]
    own = bundle_of(tmp_path, "projects p2 pes smp queues al.q", objects={}, placement=placement)
    assert problems(own) == []
