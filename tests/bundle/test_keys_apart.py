"""A key of a plugin may stand in a file of its own at the top of the bundle."""

import pytest

APART = """
@attrs.frozen
class Grid:
    names: tuple[str, ...] = ()
    size: int = 3
    source: Source | None = None

@attrs.frozen
class Mine:
    grid: Grid = attrs.field(factory=Grid)
    other: int = 1

def check(settings):
    if settings.grid.size > 9:
        yield Problem(Severity.ERROR, settings.grid.source, "too large", "")

@hookimpl
def negotiator_section():
    return Section(schema=Mine, apart=("grid",), check=check)
"""


@pytest.fixture
def own(bare):
    bare.plugin("mine", APART)
    bare.write("pool.yaml", "other: 2\n")
    return bare


def test_all_of_the_file_is_the_value_of_the_key(own):
    """With the places of what stands in it; the other keys stay in pool.yaml."""
    own.write("grid.yaml", "# ours\nnames: [a, b]\nsize: 4\n")
    found = own.settings("mine")
    assert (found.grid.names, found.grid.size, found.other) == (("a", "b"), 4, 2)
    assert (found.grid.source.file, found.grid.source.line) == ("grid.yaml", 2)


def test_it_may_still_stand_in_pool_yaml(own):
    """Or nowhere."""
    assert own.settings("mine").grid.size == 3
    own.write("pool.yaml", "grid: {size: 5}\n")
    assert own.settings("mine").grid.size == 5


def test_it_does_not_stand_in_both(own):
    """Which of them is meant can't be told."""
    own.write("pool.yaml", "grid: {size: 5}\n")
    own.write("grid.yaml", "size: 4\n")
    assert own.problems() == [
        "grid.yaml:1:1: error: the key grid is also in pool.yaml (remove one of the two)"
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("size: many\n", "grid.yaml:1:7: error"),
        ("nothing: 1\n", "grid.yaml:1:1: error: unknown key"),
        ("names: [a\n", "grid.yaml:"),
        ("size: 4\nsize: 5\n", "grid.yaml:2:1: error"),
        ("- 5\n", "grid.yaml:1:1: error"),
        ("size: 10\n", "grid.yaml:1:1: error: too large"),
        (b"size: \xff\n", "grid.yaml"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_there(own, text, place):
    """And once: nothing else follows from it."""
    own.write("grid.yaml", text)
    found = own.problems()
    assert len(found) == 1
    assert found[0].startswith(place), found


def test_an_empty_file_says_nothing(own):
    """All defaults."""
    own.write("grid.yaml", "# nothing\n")
    assert own.problems() == []
    assert own.settings("mine").grid.size == 3


def test_the_digest_covers_it(own):
    """Two bundles that differ in it are two."""
    own.write("grid.yaml", "size: 4\n")
    before = own.load().digest
    own.write("grid.yaml", "size: 5\n")
    assert own.load().digest != before


def test_the_file_belongs_to_one_plugin(own):
    """Another that wants it is told of, and named."""
    own.plugin(
        "thief",
        APART.replace("Mine", "Theirs")
        .replace("grid", "wires")
        .replace('apart=("wires",)', 'files=("grid.yaml",)')
        .replace("other: int = 1", "third: int = 1\n    files: Mapping[str, str] = attrs.field(factory=dict)")
        .replace("@attrs", "from collections.abc import Mapping\n@attrs", 1),
    )
    assert any("grid.yaml" in each and "belong" in each for each in own.problems())


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        ('("nothing",)', "has no key 'nothing'"),
        ('["grid"]', "expected a tuple of keys of the class as apart"),
        ('("../grid",)', "expected a tuple of keys of the class as apart"),
        ("(5,)", "expected a tuple of keys of the class as apart"),
    ],
)
def test_a_plugin_that_puts_apart_what_it_has_not_is_refused(own, apart, words):
    """By name."""
    own.plugin("mine", APART.replace('("grid",)', apart))
    assert any(words in each for each in own.problems()), own.problems()


def test_the_name_of_a_file_of_the_core_is_not_to_be_had(own):
    """A key of the name ``queues`` would take queues.yaml."""
    own.plugin("mine", APART.replace("grid", "queues"))
    assert any("queues.yaml" in each and "the core" in each for each in own.problems())
