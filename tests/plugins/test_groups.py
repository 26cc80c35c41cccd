"""The groups of users: from the file of the bundle, from the system, and their precedence."""

import grp
import os
import pwd
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import negotiator_groups.system
from negotiator.bundle import check_bundle, load_bundle
from negotiator.testing import call
from negotiator_groups.settings import GroupSources, GroupsSettings

ME = pwd.getpwuid(os.geteuid()).pw_name
NOBODY = "no such user on any system"


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes a bundle with a file of groups and settings of this plugin."""

    def write(groups, text="map: groups.yaml"):
        (tmp_path / "pool.yaml").write_text(f"groups: {{{text}}}\n")
        (tmp_path / "groups.yaml").write_bytes(groups if isinstance(groups, bytes) else groups.encode())
        return tmp_path

    return write


def find(folder, users, now=0.0):
    """Return the groups of users under a bundle that is loaded now."""
    return asker(folder)(users, now)


def asker(folder):
    bundle = load_bundle(folder)

    def ask(users, now=0.0):
        found, failures = bundle.hooks.user_groups(users, now, bundle.settings)
        assert failures == ()
        return found

    return ask


def problems(folder):
    return [str(each).replace(f"{folder}/", "") for each in check_bundle(folder)]


def real_groups(user):
    """Return the groups from the system by other calls: the primary group, then all others that have a name."""
    entry = pwd.getpwnam(user)
    ids = [entry.pw_gid, *os.getgrouplist(user, entry.pw_gid)]
    known = {each.gr_gid: each.gr_name for each in grp.getgrall()}
    return tuple(dict.fromkeys(known[number] for number in ids if number in known))


def test_the_file_gives_the_groups_the_primary_one_first(folder):
    written = folder("alice: [physics, astro]\nbob: []\n'007': ['on', Ünit]\n")
    found = find(written, ["bob", "alice", "eve", "007"])
    assert list(found.items()) == [("bob", ()), ("alice", ("physics", "astro")), ("007", ("on", "Ünit"))]


@pytest.mark.parametrize("text", ["", "# nobody yet\n", "{}"])
def test_an_empty_file_has_no_users(folder, text):
    assert find(folder(text), ["alice", ME]) == {}


def test_without_a_file_and_the_system_no_user_is_known(tmp_path):
    (tmp_path / "pool.yaml").write_text("")
    assert find(tmp_path, [ME, "root"]) == {}
    (tmp_path / "pool.yaml").write_text("groups: {system: false}\n")
    assert find(tmp_path, [ME, "root"]) == {}


def test_the_system_gives_the_groups_of_the_user_who_runs_this(folder):
    written = folder("", "system: true")
    assert find(written, [NOBODY, ME]) == {ME: real_groups(ME)}


def test_the_system_gives_the_groups_of_every_user_it_knows(folder):
    users = [each.pw_name for each in pwd.getpwall()][:50]
    assert find(folder("", "system: true"), users) == {user: real_groups(user) for user in users}


@pytest.mark.parametrize("user", ["", "a\0b", "\udc80", "a\nb", "x" * 100_000, "../root", "0"])
def test_an_invalid_user_name_is_unknown(folder, user):
    """Names come from job ads, which may contain anything."""
    assert find(folder("alice: [a]", "map: groups.yaml, system: true"), [user]) == {}


def test_a_name_outside_the_encoding_of_the_system_is_unknown():
    """It must not prevent the look-up of other users."""
    program = (
        "from negotiator_groups.system import SystemGroups\n"
        "import pwd, os\n"
        "me = pwd.getpwuid(os.geteuid()).pw_name\n"
        "assert list(SystemGroups(1).find(['\\u65e5', me], 0.0)) == [me]\n"
    )
    ascii_only = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", program], env=ascii_only, check=True)


def test_the_file_takes_precedence_over_the_system(folder):
    written = folder(f"'{ME}': [from-file]\nalice: []\n", "map: groups.yaml, system: true")
    assert find(written, [ME, "alice"]) == {ME: ("from-file",), "alice": ()}
    assert find(folder("alice: [a]", "map: groups.yaml, system: true"), [ME]) == {ME: real_groups(ME)}


@pytest.fixture
def looked_up(monkeypatch):
    """Record the names that the system looks up, in order; look-ups still work."""
    names = []
    real = pwd.getpwnam

    def spy(name):
        names.append(name)
        return real(name)

    monkeypatch.setattr(pwd, "getpwnam", spy)
    return names


@pytest.mark.parametrize(
    ("seconds", "times", "calls"),
    [
        (300, (1000.0, 1000.0, 1299.9), 1),
        (300, (1000.0, 1300.0), 2),
        (300, (1000.0, 1200.0, 1300.0, 1500.0), 2),
        (300, (1000.0, 999.9), 2),  # the clock was set back
        (0, (1000.0, 1000.0), 2),
    ],
)
def test_an_answer_is_cached_for_a_time_by_the_clock_of_the_cycle(folder, looked_up, seconds, times, calls):
    """Users that the system does not know are cached as well."""
    ask = asker(folder("", f"system: true, cache_seconds: {seconds}"))
    groups = real_groups("root")
    looked_up.clear()
    for now in times:
        assert ask(["root", NOBODY], now) == {"root": groups}
    assert looked_up == ["root", NOBODY] * calls


def test_the_cache_is_bounded_and_drops_the_oldest_answers_first(folder, looked_up, monkeypatch):
    """Users come from job ads: unknown names must not fill the memory."""
    monkeypatch.setattr(negotiator_groups.system, "MAX_USERS", 3)
    ask = asker(folder("", "system: true"))
    ask(["no-a", "no-b", "no-c", "no-d"], 0.0)
    ask(["no-b"], 299.0)
    assert looked_up == ["no-a", "no-b", "no-c", "no-d"]
    ask(["no-b"], 300.0)  # asked again, it is the newest
    ask(["no-e", "no-f"], 300.0)
    looked_up.clear()
    ask(["no-b", "no-e", "no-f"], 300.0)
    assert looked_up == []
    ask(["no-c"], 299.0)
    assert looked_up == ["no-c"]


def test_a_call_for_more_users_than_the_cache_holds_is_answered(folder, monkeypatch):
    monkeypatch.setattr(negotiator_groups.system, "MAX_USERS", 1)
    assert set(find(folder("", "system: true"), [ME, "no-a", "no-b", "root"])) == {ME, "root"}


def test_the_cache_is_not_shared_between_settings(looked_up):
    """Two bundles, or one that was loaded twice, have separate caches, even with equal settings."""
    one, two = GroupsSettings(GroupSources(system=True)), GroupsSettings(GroupSources(system=True))
    assert one == two
    for settings in (one, one, two):
        call(negotiator_groups, "negotiator_user_groups", users=["no-a"], settings=settings, now=0.0)
    assert looked_up == ["no-a", "no-a"]
    assert GroupsSettings().groups is not GroupsSettings().groups


def test_the_file_is_read_when_the_bundle_is_loaded(folder):
    """A changed file has no effect before the bundle is loaded again."""
    written = folder("alice: [old]")
    ask = asker(written)
    (written / "groups.yaml").write_text("alice: [new]")
    assert ask(["alice"]) == {"alice": ("old",)}
    (written / "groups.yaml").unlink()
    assert ask(["alice"]) == {"alice": ("old",)}
    assert find(folder("alice: [new]"), ["alice"]) == {"alice": ("new",)}


def test_a_group_without_a_name_is_ignored(folder, monkeypatch):
    """Its number could be mistaken for another group's name; the primary group may be one of these."""
    real = grp.getgrgid
    hidden = pwd.getpwnam(ME).pw_gid

    def without(number):
        if number == hidden:
            raise KeyError(number)
        return real(number)

    name = real(hidden).gr_name
    monkeypatch.setattr(grp, "getgrgid", without)
    expected = tuple(group for group in real_groups(ME) if group != name)
    assert find(folder("", "system: true"), [ME]) == {ME: expected}


WRONG = [
    ("alice", "1:1: error: expected users with their groups (write user: [group, ...])"),
    ("- alice", "1:1: error: expected users with their groups (write user: [group, ...])"),
    (
        "alice: physics",
        "1:8: error: expected a list of groups (write [] around the groups, the primary group first)",
    ),
    (
        "a: [b]\nalice:",
        "2:7: error: expected a list of groups (write [] around the groups, the primary group first)",
    ),
    (
        "a: {b: c}",
        "1:4: error: expected a list of groups (write [] around the groups, the primary group first)",
    ),
    ("a: [[b]]", "1:5: error: expected a group name (write one name)"),
    ("? [a]\n: [b]", "1:3: error: expected a user name (write one name)"),
    ("on: [a]", "1:1: error: expected a user name; YAML reads 'on' as a boolean (quote it)"),
    ("a: [b, 010]", "1:8: error: expected a group name; YAML reads '010' as a number (quote it)"),
    ("a: [1:30]", "1:5: error: expected a group name; YAML reads '1:30' as a number (quote it)"),
    ("a: [1.5]", "1:5: error: expected a group name; YAML reads '1.5' as a number (quote it)"),
    (
        "a: [2020-01-01]",
        "1:5: error: expected a group name; YAML reads '2020-01-01' as a date (quote it)",
    ),
    ("a: [~]", "1:5: error: expected a group name; YAML reads '~' as nothing (quote it)"),
    ("<<: [b]", "1:1: error: expected a user name; YAML reads '<<' as a merge key (quote it)"),
    ("=: [b]", "1:1: error: expected a user name; YAML reads '=' as a default value (quote it)"),
    ("'': [b]", "1:1: error: a user name must have 1 to 200 printable characters"),
    ('a: ["b\\e"]', "1:5: error: a group name must have 1 to 200 printable characters"),
    (f"a: [{'b' * 201}]", "1:5: error: a group name must have 1 to 200 printable characters"),
    (
        "a: [b]\na: [c]",
        "2:1: error: duplicate user 'a'; the first is in line 1 (remove one of the two)",
    ),
    (
        "{a: [b], 'a': [c]}",
        "1:10: error: duplicate user 'a'; the first is in line 1 (remove one of the two)",
    ),
    ("a: [b, c, b]", "1:11: error: duplicate group 'b' (remove one of the two)"),
    ("a: &x [b]", "1:4: error: YAML anchors are refused (remove it, or quote the value)"),
    ("a: !!str [b]", "1:4: error: the YAML tag 'tag:yaml.org,2002:str' is refused (remove it)"),
    (
        "a: [b",
        "1:6: error: not valid YAML: expected ',' or ']', but got '<stream end>', while parsing a flow sequence",
    ),
    (
        "a: [b]\n---\nc: [d]",
        "2:1: error: not valid YAML: but found another document, expected a single document in the stream",
    ),
    ("a: " + "[" * 5000, "1:11: error: not valid YAML: nested deeper than 8"),
    ("a: [b]\nc: \x07", "2: error: invalid character in YAML (remove it)"),
    (b"a: [b]\nc: [\xff]", "2: error: not UTF-8 (save the file as UTF-8)"),
    ('a: ["\\UFFFFFFFF"]', "1:8: error: not valid YAML (is it an escape beyond \\U0010FFFF?)"),
    ('a: ["\\U00110000"]', "1:8: error: not valid YAML (is it an escape beyond \\U0010FFFF?)"),
    (
        f"a: [{', '.join(f'g{n}' for n in range(1001))}]",
        "1:4: error: more than 1000 groups of one user",
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[str(text)[:20] for text, _ in WRONG])
def test_a_bundle_with_an_invalid_file_is_refused_with_the_place(folder, text, message):
    assert problems(folder(text)) == [f"groups.yaml:{message}"]


def test_an_alias_is_refused(folder):
    messages = problems(folder("a: &x [b]\nc: *x\n"))
    assert [line.partition(" (")[0] for line in messages] == [
        "groups.yaml:1:4: error: YAML anchors are refused",
        "groups.yaml:2:4: error: YAML aliases are refused",
    ]


def test_a_file_that_is_too_long_is_refused(folder):
    (messages,) = problems(folder(b"#" * 1_000_001))
    assert messages.startswith("groups.yaml: error: the file is longer than 1000000 bytes (")


def test_all_problems_of_a_file_are_reported_at_once_up_to_a_limit(folder):
    assert len(problems(folder("a: b\non: [c]\nd: [1]\n"))) == 3
    assert len(problems(folder("a: b\n" * 5000))) == 100


def test_a_missing_file_is_reported_at_its_setting(folder):
    (messages,) = problems(folder("", "map: other.yaml"))
    assert messages.startswith("pool.yaml:1:15: error: ")
    assert "no file 'other.yaml' in the bundle" in messages


def test_a_time_below_zero_is_refused(folder):
    (messages,) = problems(folder("", "system: true, cache_seconds: -1"))
    assert messages.startswith("pool.yaml:1:")
    assert "cache_seconds" in messages


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=20)


@given(st.dictionaries(NAMES, st.lists(NAMES, unique=True, max_size=4), max_size=6))
def test_quoted_names_are_read_as_written(tmp_path_factory, groups):
    """Any printable name, in any script."""

    def quote(name):
        return "'" + name.replace("'", "''") + "'"

    path = tmp_path_factory.mktemp("map") / "groups.yaml"
    lines = (f"{quote(user)}: [{', '.join(map(quote, names))}]\n" for user, names in groups.items())
    path.write_text("".join(lines), encoding="utf-8")
    settings = GroupsSettings(GroupSources(map=path))
    looked_up = {"users": list(groups), "settings": settings, "now": 0.0}
    found = call(negotiator_groups, "negotiator_user_groups", **looked_up)
    assert {each.user: list(each.groups) for each in found} == groups


@given(st.binary(max_size=60) | st.text("[]{}:,-?&*!'\"|> \nab0~<=#%@\t", max_size=60).map(str.encode))
def test_any_content_of_the_file_is_read_or_refused(tmp_path_factory, content):
    """Without another exception, and without groups if there is a problem."""
    path = tmp_path_factory.mktemp("map") / "groups.yaml"
    path.write_bytes(content)
    read = GroupSources(map=path).map
    assert not (read.groups and read.problems)
