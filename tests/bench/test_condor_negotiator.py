"""``make bench-peer``: what it needs, what it reads of the real negotiator, and its own cycles."""

import os

import pytest
from click.testing import CliRunner

from negotiator_bench.condor_negotiator import Comparison, compare_cycles, print_comparison
from negotiator_bench.errors import ProcessFailedError
from negotiator_bench.production import OurCycle, Production, measure_cycles
from negotiator_bench.real_pool import RealCycle, cycles_of
from negotiator_bench.requests import request_texts
from negotiator_bench.slots import plain_slot, texts

AD = """MyType = "Negotiator"
LastNegotiationCycleTime0 = 2000
LastNegotiationCycleMatches0 = 0
LastNegotiationCycleRejections0 = 0
LastNegotiationCycleTime1 = 1500
LastNegotiationCycleMatches1 = 7
LastNegotiationCycleRejections1 = 1
LastNegotiationCyclePhase1CpuTime1 = 0.25
LastNegotiationCyclePhase2CpuTime1 = 0.5
LastNegotiationCyclePhase3CpuTime1 = 1.0E-01
LastNegotiationCyclePhase4CpuTime1 = 4.0
LastNegotiationCycleTime2 = 1000
LastNegotiationCycleMatches2 = 9
"""


def test_without_its_parts_the_command_ends_with_an_exit_code_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("NEGOTIATOR_CONDOR_ROOT", str(tmp_path))
    done = CliRunner().invoke(compare_cycles, [])
    assert done.exit_code == 4
    assert ("set NEGOTIATOR_CONDOR_ROOT" in done.stderr) == (os.geteuid() == 0)


@pytest.mark.parametrize("arguments", [["--slots", "0"], ["--classes", "many"], ["--modes", "match,x"]])
def test_a_wrong_command_line_is_refused(arguments):
    assert CliRunner().invoke(compare_cycles, arguments).exit_code == 2


def test_cycles_without_jobs_and_those_before_are_skipped():
    assert cycles_of(AD, 1200) == [RealCycle(0.25, 0.6, 4.0, 7, 1)]
    assert [each.matches for each in cycles_of(AD, 900)] == [7, 9]
    assert cycles_of(AD, 1600) == []


def test_both_cycles_of_a_process_are_measured_over_the_same_files_from_the_same_state(tmp_path):
    (tmp_path / "slots.ads").write_text("".join(texts(plain_slot, range(40))))
    (tmp_path / "jobs.ads").write_text("".join(request_texts(3, 2)))
    first, second = measure_cycles(Production((str(tmp_path),), 1_700_000_000))
    assert first.matches == second.matches > 0
    assert min(first.read, first.cycle, second.read, second.cycle) > 0
    assert 0 < first.peak <= second.peak


def test_a_pool_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(ProcessFailedError, match="does not exist"):
        measure_cycles(Production((str(tmp_path / "none"),), 1_700_000_000))


def test_both_are_printed_beside_each_other_with_ratios(capsys):
    print_comparison(comparison(6))
    lines = capsys.readouterr().out.splitlines()
    words = [line.split() for line in lines]
    assert ["fetch;", "reading", "1.000", "0.500", "2.0x", "0.250", "4.0x"] in words
    assert ["whole", "5.000", "2.500", "2.0x", "1.250", "4.0x"] in words
    assert max(map(len, lines)) <= 80


def test_another_number_of_matches_in_any_cycle_is_a_disagreement():
    assert comparison(6).agrees
    assert not comparison(5).agrees


def comparison(matches):
    """Make measurements in which the second cycle of ours made so many matches, and all others six."""
    pair = (OurCycle(0.5, 2.0, 6, 0.2), OurCycle(0.25, 1.0, matches, 0.2))
    return Comparison(1000, 10, "match", RealCycle(1.0, 0.5, 3.5, 6, 0), (pair,) * 3)
