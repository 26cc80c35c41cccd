"""The command line of ``negotiator-daemon``, and what it reads of HTCondor's configuration."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from negotiator_live.master.arguments import ArgumentsError, DaemonArguments, parse_arguments
from negotiator_live.master.configuration import CondorConfiguration, ConfigurationError, DaemonConfiguration
from negotiator_live.master.handover import Handover

PROGRAM = [sys.executable, "-c", "from negotiator_live.master.entry import main; main()"]
#: As condor_config_val -dump -expand -verbose answers.
CONFIG_VAL = """#!/bin/sh
[ "$1 $2 $3 $4 $5" = "-subsystem NEGOTIATOR -dump -expand -verbose" ] || exit 1
cat <<'END'
# Configuration from machine: cm.example.org
{}END
"""
SETTINGS = {
    "NEGOTIATOR_BUNDLE": "/etc/negotiator/site",
    "SPOOL": "/var/spool",
    "NEGOTIATOR_LOG": "/var/log/NegotiatorLog",
    "COLLECTOR_HOST": "cm.example.org:9620, second.example.org",
    "CONDOR_IDS": "12.34",
    "ALLOW_ADMINISTRATOR": "root@*, condor@*",
    "SEC_DEFAULT_ENCRYPTION": "required",
    "MAX_NEGOTIATOR_LOG": "1 Mb",
    "MAX_DEFAULT_LOG": "10 Mb",
    "MAX_NUM_NEGOTIATOR_LOG": "4",
    "NOT_RESPONDING_TIMEOUT": "60 + 30",
    "NEGOTIATOR_MATCH_LOG": "/var/log/MatchLog",
    "ALL_DEBUG": "D_ALL:0",
    "NEGOTIATOR_DEBUG": "D_MATCH",
    "DEBUG_TIME_FORMAT": "%H:%M",
    "LOGS_USE_TIMESTAMP": "True",
}


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Return a function that puts a condor_config_val with these settings into PATH."""

    def configure(settings):
        lines = (f"{name} = {value}\n # at: /etc/c, line 1\n # raw: ?\n" for name, value in settings.items())
        file = tmp_path / "condor_config_val"
        file.write_text(CONFIG_VAL.format("".join(lines)))
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return tmp_path

    return configure


def test_the_arguments_of_condor_master_are_accepted():
    words = (
        "-f -p 9614 -sock negotiator_1_2 -q -local-name N2 -l /var/log -a 2 -pidfile /run/n.pid -c /etc/c -t"
    )
    assert parse_arguments(words.split()) == DaemonArguments(
        configuration="/etc/c",
        local_name="N2",
        log_folder="/var/log",
        log_suffix="2",
        pid_file="/run/n.pid",
        to_terminal=True,
    )


@pytest.mark.parametrize("words", ["-b", "-k x", "-l", "-unknown", "-r 5", "more"])
def test_an_argument_that_asks_for_something_else_is_refused(words):
    with pytest.raises(ArgumentsError):
        parse_arguments(words.split())


def test_files_are_where_the_pool_has_them(configured):
    configured(SETTINGS)
    found = DaemonConfiguration.read(DaemonArguments(log_suffix="a"))
    assert found == DaemonConfiguration(
        bundle=Path("/etc/negotiator/site"),
        state=Path("/var/spool/negotiator"),
        audit_log=Path("/var/spool/negotiator-audit"),
        handover=Handover(
            log="/var/log/NegotiatorLog.a",
            log_limit="1 Mb",
            logs_kept=4,
            not_responding_timeout=90,
            match_log="/var/log/MatchLog",
            match_log_limit="10 Mb",
            debug="D_ALL:0 D_MATCH",
            debug_time_format="%H:%M",
            logs_use_timestamp=True,
        ),
        user=(12, 34) if os.geteuid() == 0 else None,
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"CONDOR_IDS": "condor"}, "CONDOR_IDS must be UID.GID"),
        ({"NOT_RESPONDING_TIMEOUT": "0"}, "NOT_RESPONDING_TIMEOUT must be a number from 1, not '0'"),
        ({"NOT_RESPONDING_TIMEOUT": "an hour"}, "NOT_RESPONDING_TIMEOUT must be a number from 1"),
        ({"MAX_NUM_NEGOTIATOR_LOG": "-1"}, "MAX_NUM_NEGOTIATOR_LOG must be a number from 0, not '-1'"),
        ({"MAX_NEGOTIATOR_LOG": "much"}, "MAX_NEGOTIATOR_LOG: expected a size or a time, such as 10 Mb"),
    ],
)
def test_a_missing_or_invalid_setting_is_named(configured, changed, message):
    if "CONDOR_IDS" in changed and os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    configured(SETTINGS | changed)
    with pytest.raises(ConfigurationError, match=message):
        DaemonConfiguration.read(DaemonArguments())


def test_without_condor_config_val_the_message_names_it(tmp_path):
    done = subprocess.run(
        PROGRAM, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert "condor_config_val -dump: " in done.stderr


def test_the_version_is_printed_as_htcondors_daemons_do(configured):
    configured({})
    done = subprocess.run([*PROGRAM, "-v"], capture_output=True, text=True, check=True, timeout=60)
    version, platform = done.stdout.splitlines()
    assert version.startswith("$CondorVersion: 25.")
    assert platform.startswith("$CondorPlatform: ")


def test_a_pool_that_names_no_bundle_gets_one_in_its_spool(configured, tmp_path):
    """Its policies are the pool's settings alone. What is there is not written again."""
    configured({"SPOOL": tmp_path})
    found = DaemonConfiguration.read(DaemonArguments())
    assert (found.bundle, found.is_own) == (tmp_path / "negotiator-bundle", True)
    found.make_bundle()
    file = found.bundle / "pool.yaml"
    assert "order: submitters" in file.read_text()
    file.write_text("order: submitters\n# mine\n")
    found.make_bundle()
    assert "# mine" in file.read_text()


DUMP = """# Configuration from machine: cm.example.org
A_LIMIT = 1
 # at: /etc/condor/condor_config, line 10
 # raw: 1
B_LIMIT = 12
 # at: <Environment>
 # raw: 12
COLLECTOR_HOST = 127.0.0.1:0
 # at: /etc/condor/condor_config, line 82, use ROLE:Personal+2
 # raw: $(CONDOR_HOST):0
EMPTY =
 # at: /etc/condor/condor_config, line 3
 # raw:
GROUP_QUOTA_a.b = 3
 # at: /etc/condor/config.d/50, line 4
 # raw: 3
LOCAL.A_LIMIT = 3
 # at: /etc/condor/condor_config, line 12
 # raw: 3
MULTI @=end
   one = 1
   two
@end
 # at: /etc/condor/condor_config, line 20
 # raw:
 #     one = 1
 #     two
NEGOTIATOR.A_LIMIT = 2
 # at: /etc/condor/condor_config, line 11
 # raw: 2
NEGOTIATOR.NEGOTIATOR_INTERVAL = 7
 # at: /etc/condor/condor_config, line 5
 # raw: 7
NEGOTIATOR.NEGOTIATOR_INTERVAL = 7
 # at: /etc/condor/condor_config, line 5
 # raw: 7
SCHEDD.A_LIMIT = 9
 # at: /etc/condor/condor_config, line 13
 # raw: 9
SPLIT = x one = 1
two = 2 y
 # at: /etc/condor/condor_config, line 21
 # raw: x $(MULTI) y
TRUST_DOMAIN = cm.example.org
 # at: <Default>
 # raw: $(UID_DOMAIN)
"""


@pytest.mark.parametrize(
    ("name", "local", "value", "place"),
    [
        ("A_LIMIT", "", "2", "/etc/condor/condor_config:11"),
        ("a_limit", "LOCAL", "3", "/etc/condor/condor_config:12"),
        ("A_LIMIT", "other", "2", "/etc/condor/condor_config:11"),
        ("B_LIMIT", "", "12", "environment variable _CONDOR_B_LIMIT"),
        ("COLLECTOR_HOST", "", "127.0.0.1:0", "/etc/condor/condor_config:82"),
        ("EMPTY", "", "", "/etc/condor/condor_config:3"),
        ("GROUP_QUOTA_a.b", "", "3", "/etc/condor/config.d/50:4"),
        ("MULTI", "", "one = 1\ntwo", "/etc/condor/condor_config:20"),
        ("NEGOTIATOR_INTERVAL", "", "7", "/etc/condor/condor_config:5"),
        ("SPLIT", "", "x one = 1\ntwo = 2 y", "/etc/condor/condor_config:21"),
        ("TRUST_DOMAIN", "", "cm.example.org", "<Default>"),
    ],
)
def test_the_value_in_effect_is_that_of_the_local_name_else_of_the_subsystem(name, local, value, place):
    """HTCondor 25.14 answers the same for each: condor_config_val -subsystem NEGOTIATOR [-local-name LOCAL] NAME."""
    found = CondorConfiguration.of_dump(DUMP, local).settings[name.lower()]
    assert (found.value, str(found.source)) == (value, place)
    assert found.is_default is (place == "<Default>")
    assert not {"one", "two", "# raw"} & set(CondorConfiguration.of_dump(DUMP, local).settings)


def test_errors_of_the_start_are_in_the_log(configured, tmp_path):
    """The bundle does not exist; the log belongs to the daemon's user."""
    ids = {"CONDOR_IDS": f"{os.geteuid()}.{os.getegid()}"}
    files = {"NEGOTIATOR_BUNDLE": tmp_path / "none", "SPOOL": tmp_path, "NEGOTIATOR_LOG": tmp_path / "Log"}
    configured(ids | files)
    done = subprocess.run(PROGRAM, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")
    assert "none" in (tmp_path / "Log").read_text()
    assert stat.S_IMODE((tmp_path / "Log").stat().st_mode) == 0o644


def test_the_folder_in_which_it_starts_brings_no_code(configured, tmp_path):
    """condor_master starts daemons in the folder of the logs."""
    (tmp_path / "negotiator.py").write_text("raise SystemExit('loaded')\n")
    ids = {"CONDOR_IDS": f"{os.geteuid()}.{os.getegid()}"}
    files = {"NEGOTIATOR_BUNDLE": tmp_path / "none", "SPOOL": tmp_path, "NEGOTIATOR_LOG": tmp_path / "Log"}
    configured(ids | files)
    program = [PROGRAM[0], "-P", *PROGRAM[1:]]
    done = subprocess.run(program, capture_output=True, check=False, timeout=60, cwd=tmp_path)
    assert done.returncode == 2
    assert "loaded" not in (tmp_path / "Log").read_text()
