"""The command qquota, beyond the recorded transcript."""

import gzip
from pathlib import Path

import pytest
import yaml

from commands import invoke
from gridengine_qquota import Answer, Session
from gridengine_site import options
from negotiator.app.context import ProgramContext
from negotiator_quotasets.commands.qquota import qquota
from negotiator_quotasets.qquota.command import USAGE

CASES = Path(__file__).parents[1] / "conformance" / "gridengine"
FAILING = """
from negotiator.plugin import hookimpl

@hookimpl
def negotiator_charges():
    raise RuntimeError("no charge of mine")
"""


@pytest.fixture(scope="module")
def env():
    return yaml.safe_load(gzip.decompress((CASES / "env_std.yaml.gz").read_bytes()))


@pytest.fixture
def session(env, tmp_path):
    return Session(tmp_path, env)


def table(answer):
    """The lines below the header of a successful call."""
    assert (answer.stderr, answer.rc) == ("", 0)
    return answer.stdout.splitlines()[2:]


def test_the_command_line_overrides_the_file_of_the_caller_and_adds_to_that_for_everybody(session):
    """The specification says the one, the recorded sessions the other."""
    session.rules("users {*} to slots=5")
    session.defaults("-u roland")
    (session.home / ".sge_qquota").write_text('-u "b*" -l slots\n')
    assert {line.split()[-1] for line in table(session.run())} == {"roland", "bob"}
    assert {line.split()[-1] for line in table(session.run("-u", "erin"))} == {"roland", "erin"}


def test_the_caller_is_the_user_of_the_process(session):
    session.rules("users {*} to slots=5")
    assert table(session.run(user="bob")) == ["a/1                slots=4/5            users bob"]


def test_hosts_are_selected_with_their_domain_and_in_any_case(session):
    session.rules("hosts {*} to slots=5")
    expected = table(session.run("-h", "LXA.example.org"))
    assert expected == ["a/1                slots=5/5            hosts lxa"]


def test_a_queue_is_selected_by_its_path_or_its_leaf(session):
    """As in rules: fast.q is the leaf q below fast."""
    session.rules("queues {*} to slots=50")
    for name in ("fast.q", "root.fast.q", "f*.q"):
        assert table(session.run("-q", name)) == ["a/1                slots=2/50           queues fast.q"]
    assert len(table(session.run("-q", "q"))) == 3


def test_a_long_limit_is_complete_in_the_table_and_in_the_xml(session):
    session.rules("users {roland} to virtual_free=123456789G")
    (line,) = table(session.run("-u", "roland"))
    assert line == "a/1                virtual_free=1.863G/120563.271T users roland"
    assert "limit='120563.271T' value='1.863G'" in session.run("-u", "roland", "-xml").stdout


def test_names_from_job_ads_are_escaped(env, tmp_path):
    """A project may be anything, such as XML elements."""
    running = [{"user": "eve", "queue": "all.q", "host": "lxa", "project": "<b>&'"}]
    session = Session(tmp_path, env, running)
    session.rules("projects {*} to slots=5")
    assert table(session.run()) == ["a/1                slots=1/5            projects <b>&'"]
    assert "   <projects>&lt;b&gt;&amp;&#x27;</projects>\n" in session.run("-xml").stdout


def test_a_failure_to_count_is_printed_beside_the_rest(session):
    session.rules("users {*} to slots=5")
    plugins = session.places.bundle / "plugins"
    plugins.mkdir(mode=0o755)
    (plugins / "failing.py").write_text(FAILING)
    with (session.places.bundle / "pool.yaml").open("a") as file:
        file.write("plugins: {folders: [plugins]}\n")
    answer = session.run("-u", "*")
    assert answer.rc == 1
    assert "error: plugin failing" in answer.stderr
    assert "no charge of mine" in answer.stderr


@pytest.mark.parametrize("words", [("-help",), ("-u", "bob", "-help", "-xml")])
def test_help_needs_neither_a_bundle_nor_a_pool(session, words):
    session.write("rules.rqs", "nonsense")
    assert session.run(*words) == Answer(USAGE, "", 0)


def test_an_invalid_switch_is_an_error_with_the_help(session):
    assert session.run("-help", "-badopt") == Answer(
        "", f'{USAGE}error: invalid option argument "-badopt"\n', 1
    )


def test_an_invalid_switch_in_a_file_is_reported_with_its_place(session):
    session.defaults("-u roland\n-badopt\n")
    path = session.places.bundle / "sge_qquota"
    expected = f'{USAGE}error: {path}:2: invalid option argument "-badopt"\n'
    assert session.run() == Answer("", expected, 1)


def test_an_unreadable_file_is_reported_without_the_help(session):
    session.defaults('-u "roland\n')
    answer = session.run()
    assert (answer.stdout, answer.rc) == ("", 1)
    assert answer.stderr.endswith("sge_qquota:1: unclosed quote or backslash: close it on the same line\n")


def test_a_broken_bundle_is_reported(session):
    session.rules("nonsense")
    answer = session.run()
    assert (answer.stdout, answer.rc) == ("", 1)
    assert "rules.rqs:4:" in answer.stderr


def test_without_a_pool_the_error_says_how_to_name_one(session):
    words = options(session.places)
    place = words.index("--pool")
    done = invoke(qquota, words[:place] + words[place + 2 :], ProgramContext(lambda: ("bob", ())))
    assert (done.exit_code, done.stderr) == (
        2,
        "error: missing pool: use --pool PATH, set NEGOTIATOR_POOL in the environment, or use --state FOLDER of a negotiator that serves a live pool\n",
    )


def test_the_help_of_the_program_lists_the_long_options(session):
    answer = session.run("--help")
    assert answer.rc == 0
    assert "-pe PES" in answer.stdout
    assert "--pool" in answer.stdout
