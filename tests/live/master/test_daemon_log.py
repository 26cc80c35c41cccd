"""The lines of condor_negotiator in NegotiatorLog and MatchLog: their form, their words, and where each is written."""

import os
import re
import subprocess
import sys

import pytest

from negotiator.plugin import Reason, Verdict
from negotiator.records import Provenance, Station
from negotiator_live.master.daemon_log import DaemonLog, LogCategory, LogFile, LogForm, LogLimit
from negotiator_live.master.handover import Handover
from negotiator_live.pool.cycle_log import words
from played_pool import PlayedSchedd, played_pool

PID = os.getpid()


@pytest.mark.parametrize(
    ("settings", "header"),
    [
        ({}, "%m/%d/%y %H:%M:%S "),
        ({"debug_time_format": '"%Y-%m-%dT%H:%M:%S"'}, "%Y-%m-%dT%H:%M:%S "),
        ({"debug": "D_MATCH D_SUB_SECOND"}, "%m/%d/%y %H:%M:%S.%3N "),
        ({"debug": "D_CAT|D_PID,D_SUB_SECOND"}, "%m/%d/%y %H:%M:%S.%3N (pid:PID) (D_MATCH) "),
        ({"debug": "D_PID D_CATEGORY -D_PID"}, "%m/%d/%y %H:%M:%S (D_MATCH) "),
        ({"logs_use_timestamp": True}, "%s "),
        ({"debug": "d_timestamp d_sub_second"}, "%s.%3N "),
    ],
)
def test_lines_begin_as_the_settings_say(settings, header):
    assert LogForm.of(Handover(**settings)).header(LogCategory.MATCH) == header.replace("PID", str(PID))


@pytest.mark.parametrize(
    ("debug", "added"),
    [
        ("", ""),
        ("D_MATCH", "D_MATCH"),
        ("D_FULLDEBUG", "D_FULLDEBUG"),
        ("D_ALWAYS:2", "D_FULLDEBUG"),
        ("D_ALL", "D_MATCH D_FULLDEBUG"),
        ("D_ALL -D_MATCH", "D_FULLDEBUG"),
        ("D_MATCH D_MATCH:0 D_NO_SUCH", ""),
    ],
)
def test_the_categories_of_the_setting_are_written_and_what_condor_negotiator_always_writes(debug, added):
    always = {LogCategory.ALWAYS, LogCategory.STATUS, LogCategory.ERROR}
    assert LogForm.of(Handover(debug=debug)).categories == always | set(map(LogCategory, added.split()))


def test_matches_are_in_match_log_whatever_else_is_written(tmp_path, capfd):
    match_log = LogFile(tmp_path / "MatchLog", LogLimit(size=1), clock=lambda: 0.0, standard=False)
    match_log.begin()
    log = DaemonLog(LogForm("%S"), match_log, clock=lambda: 7.0)
    log.write_all([(LogCategory.MATCH, "  Matched 1.0"), (LogCategory.ALWAYS, "more\nforged")])
    assert match_log.path.read_text() == "07   Matched 1.0\n"
    assert capfd.readouterr().err == "07 more\N{REPLACEMENT CHARACTER}forged\n"
    match_log.look()
    log.write("  Rejected 2.0", LogCategory.MATCH)
    assert match_log.path.read_text() == "07   Rejected 2.0\n"
    assert (tmp_path / "MatchLog.old").read_text() == "07   Matched 1.0\n"


def test_without_condor_master_nothing_is_written(capfd):
    DaemonLog().write("nothing")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("code", "rule", "expected"),
    [
        ("concurrency_limit", "concurrency limit Lic", "concurrency limit lic reached"),
        ("preemption_requirements", "PREEMPTION_REQUIREMENTS", "PREEMPTION_REQUIREMENTS == False"),
        ("share_used", "fair share", "submitter limit exceeded"),
        ("job_requirements", "Memory > 1", "no match found"),
    ],
)
def test_a_rejection_has_the_words_of_condor_negotiator(code, rule, expected):
    where = Provenance(Station.MATCH, "p", "1", rule)
    assert words(Reason(Verdict.WAITING, code, "for people", where)) == expected


def test_a_cycle_is_logged_step_by_step(tmp_path):
    """Each line once, in the order of condor_negotiator, with that of this program's own lines."""
    slot = {
        "MyType": '"Machine"',
        "Machine": '"h"',
        "State": '"Unclaimed"',
        "Requirements": "true",
        "Cpus": "1",
        "Memory": "100",
        "Disk": "100",
        "Name": '"slot1@h"',
        "MyAddress": '"<127.0.0.1:9>"',
    }
    request = {
        "ClusterId": "7",
        "ProcId": "0",
        "AutoClusterId": "3",
        "_condor_RESOURCE_COUNT": "2",
        "Owner": '"ann"',
        "User": '"ann@d"',
        "Requirements": "true",
    }
    # The pool's configuration sets nothing.
    program = tmp_path / "bin" / "condor_config_val"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    match_log = tmp_path / "MatchLog"
    form = Handover(debug="D_MATCH D_CAT", debug_time_format="T", match_log=str(match_log))
    kept = form.send(environment)
    with played_pool([slot], [PlayedSchedd("s", [request])]) as collector:
        (tmp_path / "bundle").mkdir()
        (tmp_path / "bundle" / "pool.yaml").write_text(
            f"source: htcondor\nhtcondor:\n  collector: {collector}\n  timeout: 20\n"
        )
        command = [sys.executable, "-m", "negotiator", "serve", "--bundle", "bundle", "--cycles", "1"]
        done = subprocess.run(
            [*command, "--log-header", "T (D_ALWAYS) "],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            text=True,
            env=environment,
            pass_fds=[kept],
        )
    os.close(kept)
    address = r"<127\.0\.0\.1:\d+>"
    expected = [
        r"DaemonCore: command socket at <127\.0\.0\.1:0\?.*>",
        r"DaemonCore: private command socket at <.*>",
        "---------- Started Negotiation Cycle ----------",
        "Phase 1:  Obtaining ads from collector ...",
        "  Getting startd private ads ...",
        "  Getting Scheduler, Submitter and Machine ads ...",
        "Public ads include 1 submitter, 1 startd",
        "Phase 2:  Performing accounting ...",
        r"\(D_STATUS\) Leaving compute_significant_attrs\(\) - result=.*",
        "Phase 3:  Sorting submitter ads by priority ...",
        "Starting prefetch round; 1 potential prefetches to do.",
        "Starting prefetch negotiation for ann@d.",
        "Prefetch summary: 1 attempted, 1 successful.",
        "Phase 4.1:  Negotiating with schedds ...",
        f"  Negotiating with ann@d at {address}",
        r"    Request 00007.00000: autocluster 3 \(request count 1 of 2\)",
        rf"\(D_MATCH\)       Matched 7.0 ann@d {address} preempting none <127\.0\.0\.1:9> slot1@h",
        r"      Successfully matched with slot1@h \(match 1.1, queue .*\)",
        r"    Request 00007.00000: autocluster 3 \(request count 2 of 2\)",
        rf"\(D_MATCH\)       Rejected 7.0 ann@d {address}: no match found",
        "---------- Finished Negotiation Cycle ----------",
        "cycle number=1 .*",
    ]
    lines = done.stderr.splitlines()
    patterns = [
        f"T {'' if each.startswith(chr(92) + '(D_') else '[(]D_ALWAYS[)] '}{each}" for each in expected
    ]
    assert len(lines) == len(patterns), done.stderr
    assert [line for line, each in zip(lines, patterns, strict=True) if not re.fullmatch(each, line)] == []
    assert [line for line in lines if "(D_MATCH)" in line] == match_log.read_text().splitlines()
