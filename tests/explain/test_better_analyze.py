"""``condor_q -better-analyze`` over the same ads names the same conditions with the same numbers of slots.

The tool is HTCondor's, in the folder of the real pool; skipped where that cannot be made.
"""

import random
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from condor_pool import PoolUnavailableError, root_folder
from negotiator.classad import parse_old, unparse_old
from negotiator.classad.syntax import Paren
from negotiator.cycle.cycle_state import CycleState
from negotiator.explain.job import explain_alone
from negotiator.explain.slot import explain_jobs
from negotiator.plugin import Cycle
from pools import NOW, job, slot, snapshot, write_ads, write_bundle

_JOB = re.compile(r"^(\d+)\.(\d+):  Run analysis summary", re.MULTILINE)
_STEP = re.compile(r"^\[\d+\] +(\d+)  (?!\[)(.*)$", re.MULTILINE)
_SLOT = re.compile(r"^s(\d+)@h: Run analysis summary", re.MULTILINE)
_BOTH = re.compile(r"(\d+) \(.*\) match both slot and job requirements")
_MATCH = re.compile(r"(\d+) slots match and are willing to run your job")
SLOTS, JOBS = 60, 24


def a_pool(seed):
    rng = random.Random(seed)  # noqa: S311 - the same pools each time
    slots = [
        slot(
            n,
            MyType='"Machine"',
            SlotType='"Static"',
            Memory=str(rng.choice([1024, 2048, 4096, 16384])),
            Cpus=str(rng.choice([1, 2, 8])),
            OpSys=rng.choice(['"LINUX"', '"LINUX"', '"WINDOWS"']),
            HasDocker=rng.choice(["true", "false", None]),
            Requirements=rng.choice(["true", "TARGET.RequestMemory <= MY.Memory", "TARGET.RequestCpus < 8"]),
        )
        for n in range(SLOTS)
    ]
    conditions = [
        "TARGET.Memory >= RequestMemory",
        "TARGET.Cpus >= RequestCpus",
        'TARGET.OpSys == "LINUX"',
        "TARGET.HasDocker",
        "TARGET.Memory > 3000",
    ]
    jobs = [
        job(
            n,
            ClusterId="7",
            MyType='"Job"',
            RequestMemory=str(rng.choice([512, 2000, 8192, 99999])),
            RequestCpus=str(rng.choice([1, 4, 8])),
            Requirements=" && ".join(rng.sample(conditions, rng.randint(1, 4))),
        )
        for n in range(JOBS)
    ]
    return slots, jobs


@pytest.fixture(scope="module")
def analysed():
    """Return a function that analyses jobs over slots, or slots over jobs: by their number, the conditions and the summary."""
    try:
        root = root_folder()
    except PoolUnavailableError as error:
        pytest.skip(f"no condor_q: {error}")

    def analyse(slots, jobs, *options, summary=_JOB):
        with tempfile.TemporaryDirectory(dir=root / "tmp") as folder:
            write_ads(Path(folder, "slots"), *slots)
            write_ads(Path(folder, "jobs"), *jobs)
            inside = Path("/", Path(folder).relative_to(root))
            files = ("-jobads", str(inside / "jobs"), "-slotads", str(inside / "slots"))
            tool = ("chroot", str(root), "env", "CONDOR_CONFIG=/dev/null", "condor_q", "-better-analyze")
            command = [*tool, *options, *files]
            done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
        parts = re.split(
            r"^The Requirements expression for (?:job \d+\.\d+|this slot) is$",
            done.stdout,
            flags=re.MULTILINE,
        )
        found = [(summary.search(part), part) for part in parts]
        return {int(name[name.lastindex]): part for name, part in found if name}

    return analyse


def text_of(expression):
    found = parse_old(expression)
    while isinstance(found, Paren):
        found = found.inner
    return unparse_old(found)


@pytest.mark.parametrize("seed", range(3))
def test_conditions_have_the_numbers_that_condor_q_prints(analysed, tmp_path, seed):
    slots, jobs = a_pool(seed)
    bundle = write_bundle(tmp_path / "bundle", "")
    pool, cycle = snapshot(slots, jobs), Cycle(1, NOW, bundle.digest)
    parts, compared = analysed(slots, jobs), 0
    for row in range(JOBS):
        found = explain_alone(pool, bundle, cycle, CycleState.new(bundle, NOW), row)
        own = {text_of(each.reason.provenance.rule): each for each in found.conditions}
        for matched, text in _STEP.findall(parts[row]):
            condition = own.get(text_of(text))
            rejected = condition.rejected if condition else 0
            assert SLOTS - rejected == int(matched), (jobs[row], text)
            compared += 1
        (matching,) = _MATCH.findall(parts[row])
        assert found.candidates == int(matching)
    assert compared > JOBS


@pytest.mark.parametrize("seed", range(3))
def test_conditions_of_slots_have_the_numbers_of_jobs_that_condor_q_prints(analysed, tmp_path, seed):
    """In its view of machines, ``-reverse``."""
    slots, jobs = a_pool(seed)
    bundle = write_bundle(tmp_path / "bundle", "")
    pool, cycle = snapshot(slots, jobs), Cycle(1, NOW, bundle.digest)
    parts, compared = analysed(slots, jobs, "-reverse:machine", summary=_SLOT), 0
    for row in range(SLOTS):
        found = explain_jobs(pool, bundle, cycle, CycleState.new(bundle, NOW), row)
        own = {text_of(each.reason.provenance.rule): each for each in found.conditions}
        for matched, text in _STEP.findall(parts[row]):
            condition = own.get(text_of(text))
            assert JOBS - (condition.rejected if condition else 0) == int(matched), (slots[row], text)
            compared += 1
        (both,) = _BOTH.findall(parts[row])
        assert found.fitting == found.possible == int(both)
    assert compared > SLOTS / 3
