"""The command line of qconf: arguments of switches, errors, and the switches that still run after one."""

import re

import pytest

from gridengine_sessions import ONE, SCALAR, TWO


def test_switches_are_run_one_after_the_other(session):
    """A refusal does not stop the next one; the exit code reports it."""
    session.write({"two.txt": TWO})
    answer = session.qconf(["-Arqs", "two.txt", "-drqs", "nosuch", "-srqsl"])
    assert answer.rc == 1
    assert answer.stdout == 'root@qm added "two" to resource quota set list\none\ntwo\n'
    assert answer.stderr == 'denied: resource quota set "nosuch" does not exist\n'


@pytest.mark.parametrize(
    "first", [["-Arqs", "nofile"], ["-arqs", "one"], [*SCALAR, "maybe", "one"], ["-Mc"], ["-nosuch"]]
)
def test_no_switch_is_run_after_one_that_ends_the_command(session, first):
    """As in Grid Engine: a refused addition must not be followed by a deletion."""
    answer = session.qconf([*first, "-drqs"], editor="echo >> $1")
    assert (answer.rc, answer.stdout) == (1, "")
    assert session.sets == ONE


def test_a_denial_is_printed_once(session):
    answer = session.qconf(["-drqs", "one", "-Mrqs", "nofile", "-srqsl"], user="alice")
    assert (answer.stdout, answer.rc) == ("", 1)
    assert answer.stderr == 'denied: "alice" must be manager for this operation\n'


@pytest.mark.parametrize(
    ("list_", "shown"),
    [("one,two", ["one", "two"]), ("two one", ["one", "two"]), ("t*, nosuch", ["two"]), ("o?e", ["one"])],
)
def test_lists_have_commas_or_blanks_and_wildcards_for_printing_and_editing(session, list_, shown):
    session.sets = ONE + TWO
    assert re.findall("name +(.*)", session.qconf(["-srqs", list_]).stdout) == shown
    assert re.findall("name +(.*)", session.qconf(["-mrqs", list_], editor=":").saw) == shown


def test_the_first_name_that_a_file_lacks_is_reported(session):
    session.write({"two.txt": TWO})
    answer = session.qconf(["-Mrqs", "two.txt", "two,no,nor"])
    assert answer.stderr == 'resource quota set "no" not found in file "two.txt"\n'


@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", "slots=5 x"), ("limit", "slots=5,"), ("limit", ""), ("enabled", ""), ("foo", "1")],
)
def test_an_invalid_value_is_quoted_in_the_message(session, name, value):
    """There is no file whose lines could be named."""
    answer = session.qconf(["-rattr", "resource_quota", name, value, "one/1"])
    assert answer.stderr == f'The attribute name ("{name}") and/or value ("{value}") is invalid\n'
    assert (answer.rc, session.sets) == (1, ONE)


def test_a_value_that_is_no_truth_value_is_quoted_whole(session):
    answer = session.qconf([*SCALAR, "true false", "one"])
    assert (answer.rc, answer.stderr) == (1, 'error parsing value "true false"\n')


@pytest.mark.parametrize("name", ["one", "other"])
def test_a_name_can_not_be_changed(session, name):
    """Not even to the current one; nothing else is changed either."""
    session.write({"named.txt": f"name {name}\nenabled false\n"})
    for words in (["-mattr", "resource_quota", "name", name], ["-Mattr", "resource_quota", "named.txt"]):
        answer = session.qconf([*words, "one"])
        assert (answer.rc, answer.stderr) == (1, "qconf: cannot change name\n")
    assert session.sets == ONE


def test_limits_can_not_be_modified_to_none(session):
    """Only replaced by it."""
    answer = session.qconf(["-mattr", "resource_quota", "limit", "NONE", "one/1"])
    assert (answer.rc, session.sets) == (1, ONE)
    assert answer.stderr.startswith('"NONE" is not a valid list attribute value for -mattr.')
    assert session.qconf(["-rattr", "resource_quota", "limit", "NONE", "one/1"]).rc == 0
    assert session.sets == ONE.replace("slots=1", "NONE")


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["-nosuch"], 'error: invalid option argument "-nosuch"'),
        (["nosuch"], 'error: invalid option argument "nosuch"'),
        (["-aattr"], 'error: no option argument provided to "-aattr"'),
        (["-Aattr", "resource_quota"], 'error: no option argument provided to "resource_quota"'),
        (["-mattr", "resource_quota", "limit"], 'error: no option argument provided to "limit"'),
        (["-mattr", "resource_quota", "limit", "slots=1"], "qconf: missing object list"),
        (["-Mattr", "resource_quota", "on.txt"], "qconf: missing filename as option argument"),
        (["-Rattr", "queue", "on.txt", "one"], 'Modification of object "queue" not supported'),
        (["-dprj"], 'error: no option argument provided to "-dprj"'),
        (["-Arqs", "-srqs"], "no file argument given"),
        ([], "usage: qconf [options]"),
        (["-Mrqs"], "no file argument given"),
        (["-Mc"], 'error: no option argument provided to "-Mc"'),
    ],
)
def test_an_invalid_command_line_is_reported(session, words, first):
    answer = session.qconf(words)
    assert (answer.rc, answer.stderr.splitlines()[0]) == (1, first)


def test_the_help_names_every_switch(session):
    answer = session.qconf(["-help"])
    assert answer.rc == 0
    switches = re.findall(r"^   \[(-\w+)", answer.stdout, re.MULTILINE)
    assert set(switches) >= {
        "-arqs",
        "-Arqs",
        "-mrqs",
        "-Mrqs",
        "-srqs",
        "-srqsl",
        "-drqs",
        "-dhgrp",
        "-Mc",
        "-help",
    }
    assert len(switches) == len(set(switches)) == 22


ORDER = [
    (ONE.replace("enabled      TRUE", "enabled      maybe"), 'error parsing value "maybe"'),
    (ONE.replace("name         one", "name         a%b"), 'resource quota set "one" not found in file "f"'),
    (ONE.replace("   name         one\n", ""), 'resource quota set "one" not found in file "f"'),
    (ONE.replace("   limit        to slots=1\n", ""), "resource quota set has no rules"),
    (ONE.replace("slots=1", "nosuch=1"), 'denied: resource quota set "one" does not exist'),
]


@pytest.mark.parametrize(("text", "message"), ORDER)
def test_a_changed_set_is_checked_in_the_order_of_grid_engine(session, text, message):
    """Syntax, the name, the rules, whether the set exists, and what the qmaster looks at."""
    session.sets = ""
    session.write({"f": text})
    answer = session.qconf(["-Mrqs", "f", "one"])
    assert (answer.rc, answer.stderr.splitlines()[0], session.sets) == (1, message, "")


OF_GRID_ENGINE = [
    "-Aattr",
    "-Acal",
    "-Ackpt",
    "-Aconf",
    "-Ae",
    "-Ahgrp",
    "-Ap",
    "-Aprj",
    "-Aq",
    "-Arqs",
    "-Astree",
    "-Au",
    "-Aumap",
    "-Auser",
    "-Dattr",
    "-Mattr",
    "-Mc",
    "-Mcal",
    "-Mckpt",
    "-Mconf",
    "-Me",
    "-Mhgrp",
    "-Mp",
    "-Mprj",
    "-Mq",
    "-Mrqs",
    "-Msconf",
    "-Mstree",
    "-Mu",
    "-Mumap",
    "-Muser",
    "-Rattr",
    "-aattr",
    "-acal",
    "-ace",
    "-ackpt",
    "-aconf",
    "-ae",
    "-ah",
    "-ahgrp",
    "-am",
    "-ao",
    "-ap",
    "-aprj",
    "-aq",
    "-arqs",
    "-as",
    "-astnode",
    "-astree",
    "-au",
    "-aumap",
    "-auser",
    "-bonsai",
    "-clearusage",
    "-cq",
    "-dattr",
    "-dcal",
    "-dce",
    "-dckpt",
    "-dconf",
    "-de",
    "-dh",
    "-dhgrp",
    "-dm",
    "-do",
    "-dp",
    "-dprj",
    "-dq",
    "-drqs",
    "-ds",
    "-dstnode",
    "-dstree",
    "-du",
    "-dul",
    "-dumap",
    "-duser",
    "-km",
    "-ks",
    "-mattr",
    "-mc",
    "-mcal",
    "-mce",
    "-mckpt",
    "-mconf",
    "-me",
    "-mhgrp",
    "-mp",
    "-mprj",
    "-mq",
    "-mrqs",
    "-msconf",
    "-mstnode",
    "-mstree",
    "-mu",
    "-mumap",
    "-muser",
    "-purge",
    "-rattr",
    "-rsstnode",
    "-sc",
    "-scal",
    "-scall",
    "-sce",
    "-sckpt",
    "-sckptl",
    "-sconf",
    "-sconfl",
    "-sds",
    "-se",
    "-secl",
    "-sel",
    "-sh",
    "-shgrp",
    "-shgrpl",
    "-sm",
    "-so",
    "-sobjl",
    "-sp",
    "-spl",
    "-sprj",
    "-sprjl",
    "-sq",
    "-sql",
    "-srqs",
    "-srqsl",
    "-ss",
    "-ssconf",
    "-sss",
    "-sst",
    "-sstnode",
    "-sstree",
    "-su",
    "-sul",
    "-sumap",
    "-sumapl",
    "-suser",
    "-suserl",
    "-tsm",
]


def test_a_switch_of_grid_engine_is_done_or_answered_by_what_to_use_here(session):
    """Each switch of a qconf 8.1.9; a word that is no switch there has no pointer."""
    helped = set(re.findall(r"^   \[(-\w+)", session.qconf(["-help"]).stdout, re.MULTILINE))
    for switch in [each for each in OF_GRID_ENGINE if each not in helped]:
        first, pointer, usage = session.qconf([switch]).stderr.splitlines()
        assert first == f'error: invalid option argument "{switch}"'
        assert pointer.startswith(f"{switch} of Grid Engine is not here: ")
        assert usage == "Usage: qconf -help"
    assert len(session.qconf(["-nosuch"]).stderr.splitlines()) == 2
