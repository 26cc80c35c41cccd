"""gridengine.yaml: the objects that rules refer to, and their problems."""

import pytest

from negotiator.bundle import check_bundle
from negotiator_quotasets.complexes import STANDARD, ComplexType, Consumable
from quota_sets import ENGINE, bundle, write


def engine(folder, text):
    return bundle(folder, "", text).settings["quotasets"].gridengine


def problems(folder, text):
    return [str(each) for each in check_bundle(write(folder, "", text))]


def test_a_declared_complex_replaces_standard_ones_of_its_name_or_shortcut(tmp_path):
    """The others stay."""
    own = engine(
        tmp_path,
        "complexes: [{name: virtual_free, shortcut: mf, type: MEMORY, relop: <=, consumable: 'YES', default: 1G}]\n",
    )
    found = own.all_complexes
    assert found.find("mf").name == found.find("virtual_free").name == "virtual_free"
    assert (found.find("mf").consumable, found.find("mf").default) == (Consumable.YES, "1G")
    assert found.find("mem_free") is None
    assert found.find("vf") is None
    assert len(found) == len(STANDARD) - 1


def test_values_are_found_by_full_names(tmp_path):
    """Of the pool, of hosts and of queues, declared by name or shortcut; texts are unchanged."""
    own = engine(
        tmp_path,
        ENGINE
        + "complex_values: {l: 010.0}\nhosts: {a: {complex_values: {m: 1G, lic: 2}}}\nqueues: {q: {slots: 4, complex_values: {h_rt: 1:00:00}}}\n".replace(
            "010.0", "5"
        ),
    )
    assert own.of_pool == {"lic": "5"}
    assert own.of_hosts == {"a": {"mem": "1G", "lic": "2"}}
    assert own.of_queues == {"q": {"slots": "4", "h_rt": "1:00:00"}}


def test_nothing_is_declared_by_default(tmp_path):
    """Only the standard complexes and the default expressions exist."""
    own = engine(tmp_path, "")
    assert own.all_complexes.find("vf").type is ComplexType.MEMORY
    assert [each.text for each in (own.job.project, own.job.pe, own.job.slots)] == [
        "MY.Project",
        "MY.ParallelEnvironment",
        "MY.RequestCpus",
    ]
    assert (own.of_pool, own.of_hosts, own.of_queues, own.ignore_fqdn) == ({}, {}, {}, True)


COMPLEX = "complexes:\n  - {{name: {name}, shortcut: s1, type: {type}, relop: <=, consumable: {consumable}, default: {default}{more}}}\n"


def declared(name="a", type_="INT", consumable="'NO'", default="0", more=""):
    return COMPLEX.format(name=name, type=type_, consumable=consumable, default=default, more=more)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (declared(default="x"), 'gridengine.yaml:2:78: error: attribute "a" is not a integer value'),
        (declared(consumable="'YES'", default="'-1'"), 'attribute "a" is consumable but has a negative value'),
        (declared(type_="STRING", consumable="'YES'"), 'complex "a" of type STRING can\'t be consumed'),
        (declared(type_="HOST", consumable="JOB"), 'complex "a" of type HOST can\'t be consumed'),
        (declared(type_="NUMBER"), "gridengine.yaml:2:"),
        (declared(name="gpu-a100"), "invalid job attribute Requestgpu-a100"),
        (declared(name="a.b"), "invalid job attribute Requesta.b"),
        (declared(name="x" * 300), "invalid job attribute"),
        (declared(name="x" * 300, more=", request: MY.X"), "invalid job attribute"),
        (declared() + "  - {name: b, shortcut: s1, type: INT, relop: <=}\n", 'complexes "a" and "b" are both called "s1"'),
        (declared() + "  - {name: a, shortcut: s2, type: INT, relop: <=}\n", 'both called "a"'),
        ("complex_values: {nothing: 1}\n", 'gridengine.yaml:1:27: error: unknown complex "nothing"'),
        ("complex_values: {h_rt: x}\n", 'attribute "h_rt" is not a time value'),
        ("hosts: {a: {complex_values: {nothing: 1}}}\n", 'unknown complex "nothing"'),
        ("queues: {a: {complex_values: {h_rt: x}}}\n", 'attribute "h_rt" is not a time value'),
        ("hostgroups: {lx: [a]}\n", "host group 'lx' must begin with @"),
        ("hostgroups: {'@lx': ['@sol']}\n", "host group '@lx' has the group '@sol', which is not declared"),
        ("nothing: 1\n", "gridengine.yaml:1:1: error"),
        ("usersets: [a]\n", "gridengine.yaml:1:11: error"),
    ],
)  # fmt: skip
def test_a_problem_has_a_place_and_a_hint(tmp_path, text, words):
    found = problems(tmp_path, text)
    assert any(words in each for each in found), found
    assert all(each.startswith(("gridengine.yaml:", "entry point quotasets")) for each in found)


@pytest.mark.parametrize(
    "text",
    [
        ENGINE,
        declared(name="gpu-a100", more=", request: MY.RequestA100, value: MY.A100"),
        declared(name="5x"),
        "hostgroups: {'@a': ['@b', h], '@b': ['@a']}\n",
        "usersets: {none: []}\n",
    ],
)
def test_valid_declarations_have_no_problems(tmp_path, text):
    """Groups may contain each other."""
    assert problems(tmp_path, text) == []
