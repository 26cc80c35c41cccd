"""The rows that a real qquota selected, for lists, wildcards, groups and unknown names over many rules.

Recorded from Grid Engine 8.1.9 on the cluster of the conformance cases. The tests at the end are about
the deliberate differences, which are not in the recording.
"""

import gzip
import json
import re
from pathlib import Path

import pytest
import yaml

from gridengine_qquota import Session, with_limits_cut_off
from negotiator.app.context import ProgramContext
from negotiator_quotasets.qquota.arguments import read_arguments
from negotiator_quotasets.qquota.report import QuotaReport, selection
from negotiator_quotasets.qquota.usage_rows import table_lines

HERE = Path(__file__).parent
ANSWERS = json.loads(gzip.decompress((HERE / "qquota_answers.json.gz").read_bytes()))["sets"]
#: The limit of a formula that Grid Engine did not evaluate: it fetches hosts only if they are selected by name.
UNEVALUATED = "/9999 "
LIMIT = re.compile(r"(=\d+/)\d+ *")
SET = "{{\n   name a\n   enabled TRUE\n   limit {} to slots=50\n}}\n"


@pytest.fixture(scope="module")
def env():
    path = HERE.parent / "conformance" / "gridengine" / "env_std.yaml.gz"
    return yaml.safe_load(gzip.decompress(path.read_bytes()))


class Site:
    """The site of the transcripts with some rules, whose usage is counted once."""

    def __init__(self, folder, env, rules):
        session = Session(folder, env)
        session.write("rules.rqs", rules)
        program = ProgramContext(lambda: ("root", ()))
        self._settings = program.bundle(session.places).settings("quotasets")
        self._usage = program.plugin_usage(session.places, "quotasets")

    def printed(self, user, arguments):
        """Return the lines below the header."""
        selected = selection(read_arguments(arguments), user)
        report = QuotaReport.of(self._settings, self._usage)
        hosts, rows = report.hosts, report.selected(selected)
        return list(table_lines(rows, hosts))[2:]


def masked(line):
    """Return a line without its limit."""
    return LIMIT.sub(r"\1", line)


def same(printed, recorded):
    """True if rows are the recorded ones: limits are compared as far as Grid Engine printed and evaluated them."""
    return len(printed) == len(recorded) and all(
        masked(got) == masked(want) if UNEVALUATED in want else with_limits_cut_off(got) == want
        for got, want in zip(printed, recorded, strict=True)
    )


@pytest.mark.parametrize("name", ANSWERS)
def test_the_rows_of_a_real_qquota_are_printed_in_their_order(name, env, tmp_path):
    site = Site(tmp_path, env, ANSWERS[name]["rules"])
    wrong = []
    for each in ANSWERS[name]["answers"]:
        printed = site.printed(each["user"], each["arguments"])
        if not same(printed, each["table"]):
            wrong.append((each["user"], " ".join(each["arguments"]), printed, each["table"]))
    assert wrong == []


def test_two_lists_select_every_combination_of_their_names(env, tmp_path):
    """Grid Engine leaves out the combinations of later users with earlier hosts."""
    site = Site(tmp_path, env, SET.format("users {*} hosts {*}"))
    assert site.printed("root", ["-u", "roland,alice", "-h", "durin,lxa"]) == [
        "a/1                slots=1/50           users roland hosts lxa",
        "a/1                slots=3/50           users alice hosts durin",
    ]


def test_a_rule_for_jobs_without_a_project_is_printed(env, tmp_path):
    """Grid Engine hides it."""
    site = Site(tmp_path, env, SET.format("projects !*"))
    assert site.printed("root", []) == ["a/1                slots=7/50           projects !*"]


@pytest.mark.parametrize("hosts", ["LX*", "lX?", "@SOL_HOSTS,Lx*"])
def test_wildcards_and_groups_of_hosts_ignore_case(hosts, env, tmp_path):
    """As names of hosts do; in Grid Engine only plain names do."""
    site = Site(tmp_path, env, SET.format("hosts {lx*}"))
    assert [line.split()[-1] for line in site.printed("root", ["-h", hosts])] == ["lxa", "lxb"]
