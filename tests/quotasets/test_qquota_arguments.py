"""The arguments of qquota."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator_quotasets.qquota.arguments import LISTS, InvalidArgumentError, QquotaArguments, read_arguments

TABLE = [
    ("", {}, ()),
    ("-u alice", {"users": ("alice",)}, ()),
    ("-u alice,bob carol", {"users": ("alice", "bob", "carol")}, ()),
    ("-u alice -xml -u bob", {"users": ("alice", "bob")}, ("-xml",)),
    ("-u -h", {"users": (), "hosts": ()}, ()),
    ("-h @lx,l* -l slots=5,vf -pe mpi -P p1 -q all.q", {
        "hosts": ("@lx", "l*"),
        "resources": ("slots=5", "vf"),
        "pes": ("mpi",),
        "projects": ("p1",),
        "queues": ("all.q",),
    }, ()),
    ("-u ,alice,,", {"users": ("alice",)}, ()),
    ("-help -xml", {}, ("-help", "-xml")),
]  # fmt: skip

NAMES = st.lists(st.sampled_from(["alice", "bob,carol", "a*"]), max_size=3)
SWITCHES = st.just(["-xml"]) | st.builds(
    lambda switch, names: [switch, *names], st.sampled_from([*LISTS]), NAMES
)
WORDS = st.lists(SWITCHES, max_size=4).map(lambda switches: [word for each in switches for word in each])


@pytest.mark.parametrize(("line", "lists", "switches"), TABLE, ids=[line for line, *_ in TABLE])
def test_a_switch_takes_all_names_up_to_the_next_one(line, lists, switches):
    assert read_arguments(line.split()) == QquotaArguments(lists, frozenset(switches))


@pytest.mark.parametrize(
    ("line", "word", "number"),
    [
        ("-badopt", "-badopt", 0),
        ("-u alice -U bob", "-U", 2),
        ("alice", "alice", 0),
        ("-u bob -xml yes", "yes", 3),
    ],
)
def test_an_invalid_argument_is_named_with_its_index(line, word, number):
    with pytest.raises(InvalidArgumentError, match=f'^invalid option argument "{word}"$') as caught:
        read_arguments(line.split())
    assert caught.value.number == number


def test_names_in_one_argument_are_separated_by_commas_and_white_space():
    assert read_arguments(["-u", "alice bob,\tcarol"]).names("users") == ("alice", "bob", "carol")


@given(WORDS, WORDS)
def test_two_command_lines_add_up_to_the_joined_one(first, second):
    apart, together = read_arguments(first) + read_arguments(second), read_arguments([*first, *second])
    assert apart.switches == together.switches
    assert all(apart.names(key) == together.names(key) for key in LISTS.values())
