"""The recorded transcript of qquota, replayed on a similar cluster: every answer is the recorded one."""

import gzip
from pathlib import Path

import attrs
import pytest
import yaml

from gridengine_qquota import Answer, run_qquota, with_limits_cut_off
from gridengine_site import RUNNING

CASES = Path(__file__).parents[1] / "conformance" / "gridengine"

#: What is told otherwise, on purpose: (command, what is recorded, what is told, why).
DEPARTURES = [
    (
        'qquota -u "*" -h "lx*"',
        "slots=4/9999 ",
        "slots=4/20   ",
        "the limit was unknown there; it is not none",
    ),
]
#: Three jobs of frank, of the section of which only qquota is run here.
MORE_RUNNING = ({"user": "frank", "queue": "all.q", "host": "carc"},) * 3


def case(name):
    return yaml.safe_load(gzip.decompress((CASES / f"{name}.yaml.gz").read_bytes()))


@pytest.fixture(scope="module")
def env():
    return case("env_std")


@pytest.fixture(scope="module")
def transcript():
    return case("cli_golden")


def recorded(entry):
    """The recorded output of an entry, with the listed differences."""
    answer = Answer(entry["stdout"], entry["stderr"], entry["rc"])
    for command, recorded_text, expected, _ in DEPARTURES:
        if entry["command"] == command:
            assert recorded_text in answer.stdout
            answer = attrs.evolve(answer, stdout=answer.stdout.replace(recorded_text, expected))
    return answer


def as_recorded(answer):
    """An answer as Grid Engine prints it: it cuts off limits, which is not copied."""
    return attrs.evolve(answer, stdout=with_limits_cut_off(answer.stdout))


def section(transcript, name):
    """Its sets, and its calls of qquota."""
    own = [entry for entry in transcript if entry["section"] == name]
    return [entry for entry in own if entry["command"].startswith(("qquota", "qconf -Arqs"))]


def test_every_answer_is_the_recorded_one(transcript, env, tmp_path):
    """Rows and their order, XML, help, errors, default switches: stdout, stderr and exit code."""
    done = list(run_qquota(section(transcript, "qquota"), tmp_path, env))
    assert len(done) == 41
    assert [(entry["command"], as_recorded(answer)) for entry, answer in done] == [
        (entry["command"], recorded(entry)) for entry, _ in done
    ]


def test_without_rule_sets_nothing_is_printed(transcript, env, tmp_path):
    done = list(run_qquota(section(transcript, "show-empty"), tmp_path, env, ()))
    assert len(done) == 2
    assert [answer for _, answer in done] == [recorded(entry) for entry, _ in done]


def test_a_counter_above_its_limit_is_shown(transcript, env, tmp_path):
    running = (*RUNNING, *MORE_RUNNING)
    ((entry, answer),) = run_qquota(section(transcript, "qsub-qstat"), tmp_path, env, running)
    assert "slots=4/3 " in answer.stdout
    assert answer == recorded(entry)
