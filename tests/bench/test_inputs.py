"""The generated ads: always the same, and of the documented composition."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from negotiator.classad import Kind, conjuncts
from negotiator_bench import ours
from negotiator_bench.inputs import SLOTS, compositions
from negotiator_bench.jobs import CLASSES, job_class, six_clauses
from negotiator_bench.kinds import KINDS, slot_of_a_kind
from negotiator_bench.mixed import mixed_slot
from negotiator_bench.requests import request_texts
from negotiator_bench.slots import SLOTS_OF_A_HOST, plain_slot, texts
from negotiator_bench.wide import DIFFERING, INTEGERS, REALS, STRINGS, wide_slot

SHARED = Path(os.environ.get("NEGOTIATOR_SHARED") or Path(__file__).parents[3] / "shared")


def as_text(make, rows):
    return "".join(texts(make, rows))


@pytest.mark.data
def test_plain_slots_are_byte_for_byte_those_of_the_script():
    script = SHARED / "condor" / "bench" / "fake_slots.py"
    if not script.is_file():
        pytest.skip(f"no {script}: set NEGOTIATOR_SHARED")
    for count, start in [(150, 0), (20, 99_990)]:
        command = [sys.executable, script, str(count), str(start)]
        printed = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
        assert as_text(plain_slot, range(start, start + count)) == printed


def test_plain_slots_do_not_change():
    """Figures of different versions are comparable only if the inputs are the same."""
    text = as_text(plain_slot, range(20, 70))
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "4592e107f7bcca5e94252f5a59ff7156880f1875ce3163ea879f2c692c7e639b"
    )


@pytest.mark.parametrize("make", SLOTS.values(), ids=SLOTS)
def test_a_slot_does_not_depend_on_the_others(make):
    assert as_text(make, range(100)).split("\n\n")[97] + "\n" == make(97)


def test_a_wide_slot_has_165_attributes_of_which_40_differ():
    made = compositions()["wide"]
    assert (made.attributes, made.differing) == (165, 40)
    table = ours.read(texts(wide_slot, range(100)))
    differing = {name for name in table.names() if len(table.group([name])[1]) > 1}
    assert differing == {name.lower() for name in DIFFERING}


def test_the_columns_of_wide_slots_have_the_documented_types():
    table = ours.read(texts(wide_slot, range(50)))
    for names, kind in [(INTEGERS, Kind.INTEGER), (REALS, Kind.REAL), (STRINGS, Kind.STRING)]:
        assert {table.column(name).kind for name in names} == {kind}


def test_columns_of_mixed_slots_mix_kinds():
    table = ours.read(texts(mixed_slot, range(400)))
    memory = table.column("Memory")
    wanted = {Kind.INTEGER, Kind.REAL, Kind.EXPRESSION, Kind.STRING, Kind.ABSENT}
    assert {kind for kind in Kind if memory.where(kind).any()} == wanted
    mixed = [name for name in table.names() if table.column(name).kind is None]
    assert len(mixed) >= 8
    assert len(table.parts("Start")) >= 5
    assert len(table.parts("Requirements")) >= 3


def test_a_pool_of_kinds_is_a_plain_one_with_one_start_for_each_kind_and_the_same_in_a_host():
    slots = [slot_of_a_kind(row) for row in range((KINDS + 2) * SLOTS_OF_A_HOST)]
    starts = [line for slot in slots for line in slot.splitlines() if line.startswith("Start = ")]
    assert (len(starts), len(set(starts))) == (len(slots), KINDS)
    assert len(set(starts[:SLOTS_OF_A_HOST])) == 1
    assert starts[KINDS * SLOTS_OF_A_HOST :] == starts[: 2 * SLOTS_OF_A_HOST]
    assert slots[9].replace(starts[9], "Start = true") == plain_slot(9)


def test_requests_are_unlike_in_all_numbers_of_classes_and_stand_for_so_many_jobs():
    requests = list(request_texts(3000, 7))
    requested = set()
    for text in requests:
        ad = dict(line.split(" = ", 1) for line in text.splitlines() if line)
        assert "JobStatus" not in ad
        assert ad["_condor_RESOURCE_COUNT"] == "7"
        names = ("Requirements", "Rank", "RequestCpus", "RequestMemory", "RequestDisk", "RequestGPUs")
        requested.add(tuple(ad.get(name) for name in names))
    assert len(requested) == 3000


def test_no_two_job_classes_request_the_same():
    requests = set()
    for k in range(CLASSES):
        ad = dict(line.split(" = ", 1) for line in job_class(k).splitlines())
        names = ("Requirements", "Rank", "RequestCpus", "RequestMemory", "RequestDisk", "RequestGPUs")
        requests.add(tuple(ad.get(name) for name in names))
    assert len(requests) == 100


def test_job_classes_match_some_slots_and_not_others():
    """If everything matched, or nothing, half of the work would not be measured."""
    slots = ours.read(texts(plain_slot, range(300)))
    shares = [np.mean(mask) for mask in ours.match(slots, ours.read_jobs()).masks]
    assert 0.2 < np.mean(shares) < 0.6
    assert sum(share > 0 for share in shares) > 85
    assert max(shares) < 1


def test_the_job_of_the_scalar_measurement_has_six_clauses():
    assert len(conjuncts(ours.read([six_clauses()]).ad(0).get("Requirements"))) == 6
