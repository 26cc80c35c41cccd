"""Values of HTCondor's settings: what ``htcondor2.param`` makes of each form, or an error at its line."""

import json
import os
import subprocess
import sys

import pytest

from negotiator.bundle import check_bundle, load_bundle
from negotiator_condor.known_settings import KNOWN

#: Each form, and its value; None: condor_negotiator does not start with it.
INTEGERS = {
    "120": 120,
    "+7  ": 7,
    "010": 10,
    "2.9": 2,
    "1e3": 1000,
    "2 * 60": 120,
    "$(HOUR)": 3600,
    "6 * $(HOUR)": 21600,
    "true": 1,
    "7 / 2": 3,
    "ifThenElse(true, 30, 40)": 30,
    "5 + NoSuchAttribute ?: 9": 14,
    "$INT(HOUR)": 3600,
    "max({3, 4})": 4,
    "1000000000": 1_000_000_000,
    "2147483648": None,
    "0x10": None,
    '"60"': None,
    "60 s": None,
    "RequestCpus": None,
    "1/0": None,
    "2 *": None,
    "undefined": None,
}
REALS = {
    "120": 120.0,
    "+7.5  ": 7.5,
    "010": 10.0,
    "0x10": 16.0,
    "0x1p3": 8.0,
    ".5": 0.5,
    "1.": 1.0,
    "1.5e-3": 0.0015,
    "12 * 3600": 43200.0,
    "0.5 * $(MINUTE)": 30.0,
    "6 * $(HOUR)": 21600.0,
    "true": 1.0,
    "7 / 2": 3.0,
    "9999999999": 9999999999.0,
    "$REAL(HOUR)": 3600.0,
    '"60"': None,
    "60 s": None,
    "RequestCpus": None,
    "60,": None,
    "1/0": None,
    "2 *": None,
    "undefined": None,
}
BOOLEANS = {
    "true": True,
    "FALSE": False,
    "1": True,
    "0  ": False,
    "True && False": False,
    "!false": True,
    "1 > 2": False,
    "2": True,
    "0.5": True,
    "-1": True,
    "$(HOUR) > 5": True,
    "true || NoSuchAttribute": True,
    "yes": None,
    "no": None,
    "t": None,
    "on": None,
    '"true"': None,
    "TRUEish": None,
    "true false": None,
    "01": None,
    "undefined": None,
}
FORMS = {"integer": INTEGERS, "real": REALS, "boolean": BOOLEANS}

#: The settings that the negotiator reads, by type, with a name of each family of settings.
SETTINGS = {
    "integer": (
        *("NEGOTIATOR_INTERVAL", "NEGOTIATOR_MIN_INTERVAL", "NEGOTIATOR_CYCLE_DELAY"),
        *(f"NEGOTIATOR_MAX_TIME_PER_{what}" for what in ("CYCLE", "SUBMITTER", "SCHEDD", "PIESPIN")),
        *("NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD", "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS"),
        *("HFS_MAX_ALLOCATION_ROUNDS", "NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE"),
    ),
    "real": (
        *("PRIORITY_HALFLIFE", "DEFAULT_PRIO_FACTOR", "NICE_USER_PRIO_FACTOR", "REMOTE_PRIO_FACTOR"),
        *("CONCURRENCY_LIMIT_DEFAULT", "CONCURRENCY_LIMIT_DEFAULT_sw", "matlab_LIMIT"),
        *("GROUP_QUOTA_a", "GROUP_PRIO_FACTOR_a"),
    ),
    "boolean": (
        *("FORCE_NEGOTIATOR_SLOT_WEIGHT", "GROUP_ACCEPT_SURPLUS", "GROUP_AUTOREGROUP"),
        *("GROUP_ACCEPT_SURPLUS_a", "GROUP_AUTOREGROUP_a", "MATCH_WORKING_CM_SLOTS"),
        *("NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION", "NEGOTIATOR_CONSIDER_EARLY_PREEMPTION"),
        *("NEGOTIATOR_CONSIDER_PREEMPTION", "NEGOTIATOR_DEPTH_FIRST"),
        *("NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES", "NEGOTIATOR_IGNORE_JOB_RANKS"),
        *("NEGOTIATOR_IGNORE_USER_PRIORITIES", "NEGOTIATOR_MATCHLIST_CACHING"),
        *("NEGOTIATOR_STRICT_ENFORCE_QUOTA", "NEGOTIATOR_USE_SLOT_WEIGHTS"),
        *("NEGOTIATOR_USE_WEIGHTED_DEMAND", "PREEMPTION_RANK_STABLE", "PREEMPTION_REQUIREMENTS_STABLE"),
        *("USE_GLOBAL_JOB_PRIOS", "USE_RESOURCE_REQUEST_COUNTS", "ALLOW_PSLOT_PREEMPTION"),
        *("NEGOTIATOR_CROSS_SLOT_PRIOS", "NEGOTIATOR_INFORM_STARTD"),
    ),
}
#: Settings of a number that are read by themselves, as they must be at least 1.
RATES = ("GROUP_QUOTA_ROUND_ROBIN_RATE", "HFS_ROUND_ROBIN_RATE", "GROUP_QUOTA_DYNAMIC_a")
EXPRESSIONS = (
    *("ACCOUNTANT_LOCAL_DOMAIN", "GROUP_NAMES", "GROUP_SORT_EXPR", "GROUP_DYNAMIC_MACH_CONSTRAINT"),
    *("NEGOTIATOR_JOB_CONSTRAINT", "NEGOTIATOR_SLOT_CONSTRAINT", "NEGOTIATOR_SUBMITTER_CONSTRAINT"),
    *("NEGOTIATOR_POST_JOB_RANK", "NEGOTIATOR_PRE_JOB_RANK", "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT"),
    *("PREEMPTION_RANK", "PREEMPTION_REQUIREMENTS", "SLOT_WEIGHT", "NEGOTIATOR_MATCH_EXPRS"),
    "STARTD_RESOURCE_PREFIX",
)


def values(folder):
    """Return the value of each setting of a bundle, by name."""
    loaded = load_bundle(folder)
    fair, limits = loaded.settings["fairshare"], loaded.settings["condor"]
    intervals, times = loaded.cycle_intervals, loaded.time_limits.seconds_of
    (group,) = fair.groups.settings.groups
    found = {
        "NEGOTIATOR_INTERVAL": intervals.interval,
        "NEGOTIATOR_MIN_INTERVAL": intervals.minimum,
        "NEGOTIATOR_CYCLE_DELAY": intervals.delay,
        **dict(
            zip(
                (f"NEGOTIATOR_MAX_TIME_PER_{what}" for what in ("CYCLE", "SUBMITTER", "SCHEDD", "PIESPIN")),
                times.values(),
                strict=True,
            )
        ),
        "CONCURRENCY_LIMIT_DEFAULT": limits.of("other").limit / 1e6,
        "CONCURRENCY_LIMIT_DEFAULT_sw": limits.of("sw.x").limit / 1e6,
        "matlab_LIMIT": limits.of("matlab").limit / 1e6,
        "GROUP_QUOTA_a": group.quota,
        "GROUP_ACCEPT_SURPLUS_a": group.accept_surplus,
        "GROUP_AUTOREGROUP_a": group.autoregroup,
        "GROUP_PRIO_FACTOR_a": fair.groups.factors.get("a"),
        "NEGOTIATOR_INFORM_STARTD": loaded.settings["live"].NEGOTIATOR_INFORM_STARTD,
    }
    return {name: found.get(name, getattr(fair, name, None)) for names in SETTINGS.values() for name in names}


@pytest.fixture
def configured(tmp_path):
    """Return a function that writes a bundle with these lines, the first of which is line 3."""
    (tmp_path / "pool.yaml").write_text("order: submitters\n")

    def write(lines):
        head = (
            "GROUP_NAMES = a",
            "" if any("GROUP_QUOTA_a" in line for line in lines) else "GROUP_QUOTA_a = 1",
        )
        (tmp_path / "condor_config").write_text("\n".join((*head, *lines)) + "\n")
        return tmp_path

    return write


def of_type(kind, form):
    """Return the lines that set all settings of a type."""
    return [f"{name} = {form}" for name in SETTINGS[kind]]


@pytest.mark.parametrize(
    ("kind", "form"),
    [(kind, form) for kind, forms in FORMS.items() for form, value in forms.items() if value is not None],
)
def test_each_setting_of_a_type_has_the_value_of_the_form(configured, kind, form):
    found = values(configured(of_type(kind, form)))
    wanted = FORMS[kind][form]
    wrong = {name: found[name] for name in SETTINGS[kind] if found[name] != pytest.approx(wanted)}
    assert wrong == {}


@pytest.mark.parametrize(
    ("kind", "form"),
    [(kind, form) for kind, forms in FORMS.items() for form, value in forms.items() if value is None],
)
def test_a_form_with_which_condor_negotiator_does_not_start_is_an_error_at_its_line(configured, kind, form):
    lines = of_type(kind, form)
    of_names = [line for line in lines if "_a " in line or "sw" in line or "matlab" in line]
    for part in ([line for line in lines if line not in of_names], of_names):  # names need a valid rest
        problems = check_bundle(configured(part))
        errors = {each.source.line: str(each) for each in problems if each.severity == "error"}
        assert sorted(errors) == list(range(3, 3 + len(part)))
        for line, text in zip(range(3, 3 + len(part)), part, strict=True):
            assert f":{line}:{text.index('=') + 3}: error: " in errors[line]


@pytest.mark.parametrize(
    ("form", "value"), [("2.0 * 2", 4.0), ("$(HOUR)", 3600.0), ("0x10", 16.0), ("0.5", None), ("many", None)]
)
def test_rates_are_numbers_of_at_least_one(configured, form, value):
    lines = [f"GROUP_QUOTA_ROUND_ROBIN_RATE = {form}", f"HFS_ROUND_ROBIN_RATE = {form}"]
    folder = configured(lines)
    errors = [each.source.line for each in check_bundle(folder) if each.severity == "error"]
    if value is None:
        assert 3 in errors
    else:
        assert errors == []
        assert load_bundle(folder).settings["fairshare"].groups.settings.round_robin_rate == value


def test_every_setting_that_is_read_is_compared():
    compared = {name.lower() for names in SETTINGS.values() for name in names} | {
        name.lower() for name in (*RATES, *EXPRESSIONS)
    }
    for setting in KNOWN:
        if setting.plugin:
            names = {setting.name.lower().replace("*", each) for each in ("a", "sw", "matlab")}
            assert names & compared, setting.name


def test_the_values_are_those_of_htcondors_library(tmp_path):
    """One file of HTCondor for each form, all in one process; a type is that of its default, as param reads it.

    Where the library falls back to the default, or cuts the value, a daemon stops.
    """
    pytest.importorskip("htcondor2", reason="HTCondor's own library is not installed")
    script = """
import json, sys
import htcondor2
htcondor2.set_subsystem("NEGOTIATOR")
found = {}
for kind, names, forms in json.load(sys.stdin):
    for form in forms:
        values = {}
        for name in names:
            default = htcondor2.param.get(name)
            htcondor2.param[name] = form
            values[name] = (htcondor2.param.get(name), default)
            del htcondor2.param[name]
        found[kind + form] = values
print(json.dumps(found))
"""
    file = tmp_path / "condor_config"
    file.write_text("")
    asked = [(kind, SETTINGS[kind], list(forms)) for kind, forms in FORMS.items()]
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(asked),
        env={**os.environ, "CONDOR_CONFIG": str(file)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    theirs = json.loads(done.stdout)
    types = {"integer": int, "real": float, "boolean": bool}
    compared = 0
    for kind, forms in FORMS.items():
        for form, value in forms.items():
            answers = {
                (answer, default)
                for answer, default in theirs[kind + form].values()
                if type(default) is types[kind]
            }
            assert answers
            for answer, default in answers:
                compared += 1
                if value is not None:
                    assert answer == value, (kind, form)
                elif form not in {
                    "TRUEish",
                    "true false",
                    "01",
                    "2147483648",
                }:  # read to their end, then refused
                    assert answer == default, (kind, form)
    assert compared > 150
