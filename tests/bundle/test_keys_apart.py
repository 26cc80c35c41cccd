"""The key of a plugin may be in a file of its own at the top of the bundle."""

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
    """Values have their places in that file; the other keys stay in pool.yaml."""
    own.write("grid.yaml", "# ours\nnames: [a, b]\nsize: 4\n")
    found = own.settings("mine")
    assert (found.grid.names, found.grid.size, found.other) == (("a", "b"), 4, 2)
    assert (found.grid.source.file, found.grid.source.line) == ("grid.yaml", 2)


def test_the_key_may_still_be_in_pool_yaml(own):
    """Or be missing."""
    assert own.settings("mine").grid.size == 3
    own.write("pool.yaml", "grid: {size: 5}\n")
    assert own.settings("mine").grid.size == 5


def test_the_key_in_both_files_is_an_error(own):
    """It is not known which of them is meant."""
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
def test_a_problem_has_its_place_in_that_file(own, text, place):
    """It is reported once, without consequential problems."""
    own.write("grid.yaml", text)
    found = own.problems()
    assert len(found) == 1
    assert found[0].startswith(place), found


def test_an_empty_file_gives_the_defaults(own):
    """All defaults."""
    own.write("grid.yaml", "# nothing\n")
    assert own.problems() == []
    assert own.settings("mine").grid.size == 3


def test_the_digest_covers_the_file(own):
    """Two bundles that differ in it have different digests."""
    own.write("grid.yaml", "size: 4\n")
    before = own.load().digest
    own.write("grid.yaml", "size: 5\n")
    assert own.load().digest != before


def test_the_file_belongs_to_one_plugin(own):
    """Another plugin that declares it is reported with its name."""
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
def test_a_separate_file_for_an_undeclared_key_is_refused(own, apart, words):
    """The message names the key."""
    own.plugin("mine", APART.replace('("grid",)', apart))
    assert any(words in each for each in own.problems()), own.problems()


def test_the_name_of_a_file_of_the_core_is_refused(own):
    """A key ``queues`` would take queues.yaml."""
    own.plugin("mine", APART.replace("grid", "queues"))
    assert any("queues.yaml" in each and "the core" in each for each in own.problems())
