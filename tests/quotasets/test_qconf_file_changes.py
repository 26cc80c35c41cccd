"""The file that a change of the sets writes, and the result of a crash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.records import Severity
from negotiator_quotasets.language import NameFilter, QuotaRule, RuleLimit, RuleSet, format_sets
from negotiator_quotasets.qconf.arguments import QconfRefusedError
from negotiator_quotasets.qconf.files import (
    NEW_FILE,
    file_of_new_sets,
    planned_write,
    replaced,
    sets_by_file,
    with_added,
    with_changed,
    without,
)
from negotiator_quotasets.settings import QuotaSettings, check


def a_set(name, slots=1):
    return RuleSet(
        name, (QuotaRule(users=NameFilter(("*",), expanded=True), limits=(RuleLimit("slots", str(slots)),)),)
    )


def settings(**files):
    """Settings with these sets, by file; ``_`` stands for the dot."""
    return QuotaSettings({name.replace("_", "."): text for name, text in sorted(files.items())})


def sets(*names):
    return format_sets(map(a_set, names))


def names(found):
    return [each.name for each in found.sets]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, NEW_FILE),
        ({"site_rqs": sets("a")}, "site.rqs"),
        ({"a_rqs": "", "b_rqs": ""}, NEW_FILE),
        ({"a_rqs": "", "b_rqs": "", "quotasets_rqs": ""}, NEW_FILE),
        # quotasets.rqs is superseded: it would not be read
        ({"a_rqs": "", "b_rqs": "# in place of: quotasets.rqs\n"}, "a.rqs"),
    ],
)
def test_the_file_of_new_sets(files, expected):
    assert file_of_new_sets(settings(**files)) == expected


def test_a_change_of_one_file_writes_that_file_alone():
    current = settings(a_rqs=sets("x", "y"), b_rqs=sets("z"))
    write = planned_write(current, with_changed(current, [a_set("x", 5)]))
    assert (write.name, write.superseded) == ("a.rqs", ())
    assert write.content.decode() == format_sets([a_set("y"), a_set("x", 5)])


def test_a_change_of_several_files_writes_one_that_supersedes_them():
    current = settings(a_rqs=sets("x"), b_rqs=sets("y", "z"), c_rqs=sets("w"))
    write = planned_write(current, without(current, ["x", "z"]))
    assert (write.name, write.superseded) == (NEW_FILE, ("a.rqs", "b.rqs"))
    assert write.content.decode() == "# in place of: a.rqs b.rqs\n" + sets("y")


def test_the_next_change_after_a_crash_removes_superseded_files():
    """Whether it is of one file or of several: otherwise they would be read again."""
    current = settings(
        a_rqs=sets("old"), c_rqs=sets("z"), quotasets_rqs="# in place of: a.rqs b.rqs\n" + sets("x")
    )
    for wanted, gone in ((["x"], ("a.rqs",)), (["x", "z"], ("c.rqs", "a.rqs"))):
        write = planned_write(current, without(current, wanted))
        assert (write.name, write.superseded) == (NEW_FILE, gone)
        assert write.content.decode() == f"# in place of: {' '.join(gone)}\n"


def test_unchanged_sets_are_not_written():
    """Comments and spelling are kept."""
    current = settings(a_rqs="# why\n{ name x limit to slots=1 }\n")
    assert planned_write(current, replaced(current, current.sets)) is None


def test_a_file_with_a_blank_in_its_name_is_not_superseded():
    """The first line separates names by blanks."""
    current = QuotaSettings({"a b.rqs": sets("x"), "c.rqs": sets("y")})
    with pytest.raises(QconfRefusedError, match="give the file a name without blanks first"):
        planned_write(current, replaced(current, [a_set("z")]))


FILES = st.sampled_from(["a.rqs", "b.rqs", "m.rqs", NEW_FILE, "z.rqs"])
WORDS = st.sampled_from([f"s{number}" for number in range(8)])
CHANGES = st.one_of(
    st.tuples(st.just("add"), st.lists(WORDS, min_size=1, unique=True)),
    st.tuples(st.just("change"), st.lists(WORDS, min_size=1, unique=True), st.integers(0, 9)),
    st.tuples(st.just("remove"), st.lists(WORDS, min_size=1, unique=True)),
    st.tuples(st.just("replace"), st.lists(WORDS, unique=True)),
)


def changed(current, kind, chosen, slots=2):
    there = set(names(current))
    if kind == "add":
        return with_added(current, [a_set(name, slots) for name in chosen if name not in there])
    if kind == "change":
        return with_changed(current, [a_set(name, slots) for name in chosen if name in there])
    if kind == "remove":
        return without(current, chosen)
    return replaced(current, [a_set(name, slots) for name in chosen])


def superseded_files(current):
    """The superseded files; there are no other problems."""
    found = list(check(current))
    assert all(each.severity is Severity.WARNING and "is not read" in each.message for each in found)
    return {each.source.file for each in found}


@given(
    st.dictionaries(WORDS, FILES, max_size=8),
    st.lists(st.tuples(CHANGES, st.sets(FILES)), min_size=1, max_size=4),
)
def test_a_bundle_has_the_new_sets_whichever_files_were_removed(placed, steps):
    """After each change, even if a crash left some of the superseded files."""
    files = {file: sets(*(name for name in placed if placed[name] == file)) for file in set(placed.values())}
    for change, survivors in steps:
        current = QuotaSettings(dict(sorted(files.items())))
        assert superseded_files(current) == current.superseded & files.keys()
        wanted = changed(current, *change)
        write = planned_write(current, wanted)
        if write is not None:
            assert write.name not in write.superseded
            gone = set(write.superseded) - survivors
            files = {name: text for name, text in files.items() if name not in gone}
            files[write.name] = write.content.decode()
        after = QuotaSettings(dict(sorted(files.items())))
        flat = {each.name: each for found in wanted.values() for each in found}
        assert {each.name: each for each in after.sets} == flat
        assert len(after.sets) == len(flat)
        assert superseded_files(after) == after.superseded & files.keys()


def test_a_merged_file_keeps_the_order_of_the_sets():
    current = settings(a_rqs=sets("y", "x"), b_rqs=sets("w"))
    assert [each.name for found in sets_by_file(current).values() for each in found] == ["y", "x", "w"]
