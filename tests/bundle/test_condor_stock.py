"""HTCondor's own configuration as a bundle: it loads, in one line, and only what would decide is reported loudly."""

import shutil
import subprocess

import pytest

from negotiator.bundle import check_bundle, load_bundle
from negotiator.records import Severity

# Debian's configuration (HTCondor 25.14.1), shortened.
STOCK = """\
######################################################################
##  condor_config
######################################################################
RELEASE_DIR = /usr
LOCAL_DIR = /var
LOCAL_CONFIG_FILE = /etc/condor/condor_config.local
REQUIRE_LOCAL_CONFIG_FILE = false
LOCAL_CONFIG_DIR = /usr/share/condor/config.d,/etc/condor/config.d
RUN     = $(LOCAL_DIR)/run/condor
GANGLIA_LIB64_PATH = /lib,/usr/lib,/usr/local/lib
"""
SECURITY = """\
# use security:host_based
if version >= 23.10.0
    use security:recommended
else
    use security:recommended_v9_0
endif
"""
MINI = """\
CONDOR_HOST = 127.0.0.1
COLLECTOR_HOST = $(CONDOR_HOST):0
DAEMON_LIST = MASTER, COLLECTOR, NEGOTIATOR, STARTD, SCHEDD
use ROLE: Personal
START = TRUE
UPDATE_INTERVAL = $RANDOM_INTEGER(230, 370)
NETWORK_INTERFACE = $ENV(HOST_INTERFACE)
JOB_DEFAULT_REQUESTMEMORY = ifThenElse(MemoryUsage =!= UNDEFINED,MemoryUsage,$INT(UNDEFINED_HERE))
NAME_OF_FILE = $Fn(LOCAL_CONFIG_FILE)
include command : /usr/libexec/condor/site_config
"""

# The forms that condor_config_val -dump has: -expand and -verbose print some values over several lines, as they are.
DUMP = """\
# Configuration from machine: vm
ABORT_ON_EXCEPTION = false
ACCOUNTANT_LOCAL_DOMAIN = {at}
CATALOG_SPACE @=end
   ifthenelse(
   MappingMethod ?: "" != "Copy",
   $(SUM_OF_CATALOGS),
   0
   )
@end{at}
CONCURRENCY_LIMIT_DEFAULT = 2308032
GROUP_QUOTA_ROUND_ROBIN_RATE = 1.0e100
IsSubmit = false
TOOL.IsTool = true
IsVanilla = (TARGET.JobUniverse == 5)
LOG = $(LOCAL_DIR)/log{at}
MODIFY_REQUEST_EXPR_REQUESTDISK = quantize(RequestDisk -     ifthenelse(
       MappingMethod ?: "" != "Copy",
       sum(evalInEachContext(
             member(CatalogID, RequestedCatalogIDs)
    ),
 A = 5
),{{Target.DiskQuantum?:1024}})
NEGOTIATOR_DEBUG = D_MATCH
NEGOTIATOR_JOB_CONSTRAINT = {at}
NEGOTIATOR_LOG = $(LOG)/NegotiatorLog
NEGOTIATOR_PE_STARTD_ONLY_EXPR = MY.Memory < $(MINIMUM:128)
NICE_USER_PRIO_FACTOR = 1e10
ZKM_DEBUG =
# Contributing configuration file(s):
#\t/etc/condor/condor_config
"""
VERBOSE = "\n # at: <Default>\n # expanded: ifthenelse(\n     MappingMethod,\n A = 1\n # default: false"


def errors_of(folder):
    """Return the errors of a bundle that is loaded with all bundled plugins."""
    return [str(each) for each in check_bundle(folder.path) if each.severity is Severity.ERROR]


def test_the_stock_configuration_loads_with_one_line_about_what_it_ignores(bundle):
    """Templates are notices; macros and commands that nobody here knows refuse nothing."""
    bundle.write("condor_config", STOCK)
    (problem,) = bundle.problems()
    summary, _, hint = problem.partition(" (")
    assert summary == (
        "condor_config: notice: 7 settings of HTCondor have no effect here: "
        "RELEASE_DIR, LOCAL_DIR, LOCAL_CONFIG_FILE and 4 others"
    )
    assert hint == "negotiator check --ignored lists them)"
    bundle.write("00-security.conf", SECURITY)
    bundle.write("10-mini.conf", MINI)
    problems = bundle.problems()
    assert [each.partition(" (")[0] for each in problems if "settings of" not in each] == [
        "00-security.conf:3:5: notice: use SECURITY:recommended has no effect here",
        "10-mini.conf:4:1: notice: use ROLE:Personal has no effect here",
        "10-mini.conf:10:1: warning: not included: commands are not run; settings in it have no effect here",
    ]
    assert "15 settings of HTCondor have no effect here" in "".join(problems)
    bundle.load()


def test_each_ignored_setting_is_listed_beside_the_summary(bundle):
    """``BundleCheck.ignored`` has their places."""
    bundle.write("condor_config", STOCK)
    ignored = bundle.examine().ignored
    assert [str(each) for each in ignored][:2] == [
        "condor_config:4:1: notice: RELEASE_DIR has no effect here",
        "condor_config:5:1: notice: LOCAL_DIR has no effect here",
    ]
    assert len(ignored) == 7


def test_a_misspelled_setting_of_a_plugin_is_not_lost_among_the_ignored_ones(bundle):
    """A name that is almost the one of a plugin is a warning of its own."""
    (problem,) = bundle.conf("TINY_EXPPR = true")
    assert problem == "a.conf:1:1: warning: TINY_EXPPR has no effect here (did you mean TINY_EXPR?)"


@pytest.mark.parametrize("at", ["", VERBOSE], ids=["expand", "verbose"])
def test_a_dump_of_the_configuration_loads_and_its_policies_count(bare, at):
    """Values over several lines hide nothing."""
    bare.write("condor_config", DUMP.format(at=at))
    loaded = load_bundle(bare.path)
    (summary,) = (problem.message for problem in loaded.problems)
    assert summary.startswith("11 settings of HTCondor have no effect here: ABORT_ON_EXCEPTION, ")
    assert loaded.settings["expressions"].startd_only.text == "MY.Memory < 128"


@pytest.mark.parametrize(
    "added",
    [
        "NEGOTIATOR_PE_JOB_EXPR = MY.x &&\n  MY.y(\n)\n",
        "NEGOTIATOR_PE_JOB_EXPR = $(N)\n",
        "NEGOTIATOR_PE_JOB_EXPR = MY.a &&\nMY.b == 2\n",
    ],
)
def test_a_policy_that_a_dump_does_not_print_whole_is_an_error(bare, added):
    """Of several lines, or with a line of its own that is out of order."""
    before, _, after = DUMP.format(at="").partition("NEGOTIATOR_PE_STARTD")
    bare.write("condor_config", f"{before}N = 1 \n{added}NEGOTIATOR_PE_STARTD{after}")
    assert "is not known here: " in errors_of(bare)[0]
    bare.write("condor_config", DUMP.format(at="") + "NEGOTIATOR_PE_JOB_EXPR = true\n")
    (error,) = errors_of(bare)
    assert error.endswith("(write your own definitions into another file)")


@pytest.mark.skipif(not shutil.which("condor_config_val"), reason="HTCondor's tools are not installed")
@pytest.mark.parametrize("options", [["-dump"], ["-dump", "-verbose"], ["-dump", "-expand"], ["-summary"]])
def test_what_the_installed_condor_config_val_prints_loads(bare, options):
    """Whatever the configuration of this machine is, unless a policy of it is broken."""
    printed = subprocess.run(
        ["condor_config_val", *options], capture_output=True, text=True, timeout=60, check=True
    )
    bare.write("condor_config", printed.stdout)
    assert errors_of(bare) == []
