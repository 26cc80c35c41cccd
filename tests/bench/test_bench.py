"""``make bench``: its output, and errors if its results differ from the library's."""

import io
import json
import os
from importlib import import_module

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

from negotiator_bench import cycles, ours, reading, suite
from negotiator_bench.command import bench as command
from negotiator_bench.errors import ProcessFailedError
from negotiator_bench.figures import Area, Figure, SpeedTarget
from negotiator_bench.matching import match_differences
from negotiator_bench.plan import FULL, QUICK
from negotiator_bench.reading import read_differences
from negotiator_bench.slots import texts
from negotiator_bench.wide import wide_slot
from negotiator_bench.worker_client import Worker, library_is_here

needs_library = pytest.mark.skipif(not library_is_here(), reason="HTCondor's library is not installed")

#: What the library has no counterpart for.
ALONE = {Area.PLACING, Area.SWAPPING, Area.ADMISSION, Area.CHARGING, Area.QUOTAS, Area.CYCLE, Area.HOSTILE}
ALONE |= {Area.SHARING, Area.START}

SMALL = attrs.evolve(QUICK, repetitions=1, matching=(("plain", 50),), pairs=100)


def bench(*arguments):
    return CliRunner().invoke(command, arguments)


@pytest.fixture
def small(monkeypatch):
    """Make both plans tiny."""
    command = import_module("negotiator_bench.command")  # the package has the command by this name
    monkeypatch.setattr(command, "QUICK", SMALL)
    monkeypatch.setattr(command, "FULL", attrs.evolve(SMALL, judged=True))


@pytest.fixture
def alone(monkeypatch):
    """Hide HTCondor's library."""
    monkeypatch.setattr(suite, "library_is_here", lambda: False)


@pytest.fixture(scope="module")
def report():
    """Measure everything once, quickly."""
    return suite.run(QUICK, tuple(Area), lambda _: None)


@pytest.fixture
def printed(report, monkeypatch):
    """Return a function that runs the command on that report with some arguments."""
    monkeypatch.setattr(import_module("negotiator_bench.command"), "run", lambda *_: report)
    return bench


@pytest.fixture
def quick(printed):
    """Return the JSON output of a quick run."""
    done = printed("--quick", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    return json.loads(done.stdout)


@needs_library
def test_a_quick_run_measures_every_area_and_agrees_with_the_library(quick):
    assert set(quick) == {"machine", "plan", "library", "inputs", "figures", "missed", "disagreements"}
    assert (quick["library"], quick["missed"], quick["disagreements"]) == (True, 0, [])
    assert {figure["area"] for figure in quick["figures"]} == set(Area)
    assert set(quick["inputs"]) == {"plain", "busy", "mixed", "kinds", "wide", "jobs"}
    assert quick["machine"]["libraries"]["htcondor"]


@needs_library
def test_every_figure_has_its_single_values_and_their_median(quick):
    keys = {"area", "what", "unit", "ours", "theirs", "ratio", "ours_each", "theirs_each", "ratios"}
    for figure in quick["figures"]:
        assert set(figure) == keys | {"target", "met", "facts"}
        taken = 1 if figure["area"] in {Area.MEMORY, Area.HOSTILE} else QUICK.repetitions
        assert len(figure["ours_each"]) == taken
        assert figure["ours"] == np.median(figure["ours_each"])
        assert figure["ours"] > 0 or figure["area"] == Area.HOSTILE  # a difference
        assert (
            len(figure["theirs_each"]) == len(figure["ratios"]) == (0 if figure["area"] in ALONE else taken)
        )
        if figure["ratios"]:
            assert figure["ratio"] == np.median(figure["ratios"]) > 0


@needs_library
@pytest.mark.usefixtures("small")
def test_a_pair_that_matches_here_and_not_there_is_an_error(monkeypatch):
    right = ours.match

    def wrong(slots, jobs):
        matched = right(slots, jobs)
        first = matched.candidates[0]
        matched.candidates[0] = attrs.evolve(first, among=~first.among)
        return matched

    monkeypatch.setattr(ours, "match", wrong)
    done = bench("--quick", "--only", "matching")
    assert done.exit_code == 3
    assert "job class 0" in done.stderr
    assert "figures mean nothing" in done.stderr


@needs_library
@pytest.mark.usefixtures("small")
def test_a_rank_that_differs_and_a_choice_that_is_not_the_best_are_errors(monkeypatch):
    right = ours.rank

    def wrong(matcher, job, rows):
        by_pool, by_job = right(matcher, job, rows)
        return by_pool, by_job + np.arange(len(rows))

    def worst(matched, _jobs, count):
        return [np.flatnonzero(mask)[::-1][:count] for mask in matched.masks]

    monkeypatch.setattr(ours, "rank", wrong)
    assert "Rank of job class" in bench("--quick", "--only", "ranking").stderr
    monkeypatch.setattr(ours, "rank", right)
    monkeypatch.setattr(ours, "choose", worst)
    done = bench("--quick", "--only", "ranking")
    assert done.exit_code == 3
    assert "not the first of all that match" in done.stderr


@needs_library
@pytest.mark.usefixtures("small")
def test_a_value_that_is_read_differently_is_an_error(monkeypatch):
    right = reading.read_pool

    def wrong(paths, stdin):
        return right(paths, io.BytesIO(stdin.read().replace(b"JobStarts = ", b"JobStarts = 1")))

    monkeypatch.setattr(reading, "read_pool", wrong)
    done = bench("--quick", "--only", "reading")
    assert done.exit_code == 3
    assert "slots: jobstarts of ad" in done.stderr


def test_the_comparison_distinguishes_types():
    table = ours.read(texts(wide_slot, range(2)))
    ad = {"cpus": table.ad(1).integer("Cpus"), "loadavg": table.ad(1).real("LoadAvg")}
    assert list(read_differences(table, [1], [ad])) == []
    assert len(list(read_differences(table, [1], [ad | {"cpus": float(ad["cpus"])}]))) == 1
    mask = np.array([True, False])
    assert list(match_differences("plain", [(0, 0), (0, 1)], [mask], [True, False])) == []
    assert len(list(match_differences("plain", [(0, 0), (0, 1)], [mask], [False, True]))) == 2


@pytest.mark.usefixtures("small", "alone")
def test_without_the_library_there_are_our_own_figures_only():
    done = bench("--only", "matching,scalar,memory")
    assert done.exit_code == 0
    assert "pip install htcondor" in done.stdout
    assert "Targets met: " in done.stdout
    figures = json.loads(bench("--only", "matching,scalar", "--json").stdout)["figures"]
    assert [(figure["theirs"], figure["ratio"], figure["met"]) for figure in figures] == [(None,) * 3] * 2


@pytest.mark.usefixtures("small", "alone")
def test_strict_fails_where_a_target_cannot_be_judged():
    assert bench("--only", "scalar").exit_code == 0
    assert bench("--only", "scalar", "--strict").exit_code == 1


def test_the_targets_are_those_of_the_full_sizes():
    assert FULL.judged
    assert ("plain", 20_000) in FULL.matching
    assert not QUICK.judged


@pytest.mark.parametrize(
    ("ours_each", "theirs_each", "target", "met"),
    [
        ((700, 1000, 9000), (1, 1, 1), SpeedTarget("ratio", at_least=1000), True),
        ((700, 999, 9000), (1, 1, 1), SpeedTarget("ratio", at_least=1000), False),
        ((4.0,), (1.0,), SpeedTarget("ratio", at_most=4), True),
        ((4.1,), (1.0,), SpeedTarget("ratio", at_most=4), False),
        ((3001,), (), SpeedTarget("ours", at_most=3000), False),
        ((5.0,), (), SpeedTarget("ratio", at_most=4), None),
        ((5.0,), (1.0,), None, None),
    ],
)
def test_a_target_is_judged_by_the_median(ours_each, theirs_each, target, met):
    assert Figure(Area.MATCHING, "", "", ours_each, theirs_each, target).met is met


def test_the_ratio_is_the_median_of_the_ratios_of_each_turn():
    figure = Figure(Area.MATCHING, "", "", (10, 20, 90), (1, 10, 10))
    assert (figure.ratios, figure.ratio) == ((10, 2, 9), 9)


@pytest.mark.usefixtures("small", "alone")
def test_a_missed_target_is_printed_as_missed(monkeypatch):
    monkeypatch.setattr("negotiator_bench.memory.TARGET", SpeedTarget("ours", at_most=1))
    done = bench("--only", "memory")
    assert done.exit_code == 0
    assert "MISSED" in done.stdout
    assert "missed: 1" in done.stdout
    assert bench("--only", "memory", "--strict").exit_code == 1


def test_cycles_over_unlike_slots_are_judged_by_those_over_plain_ones_in_the_full_plan():
    judged = cycles.measure_unlike(attrs.evolve(SMALL, judged=True)).figures
    assert [figure.what for figure in judged] == ["50 mixed slots, 10 classes", "50 kinds slots, 10 classes"]
    for figure in judged:
        assert figure.target == SpeedTarget("ours", at_most=2)
        assert figure.facts["matches, plain"] > 0
    assert {figure.target for figure in cycles.measure_unlike(SMALL).figures} == {None}


@pytest.mark.parametrize("arguments", [["--only", "matching,speed"], ["--only", ""], ["--quick", "--strict"]])
def test_a_wrong_command_line_is_refused(arguments):
    assert bench(*arguments).exit_code == 2


def test_the_table_fits_80_columns(printed):
    assert max(map(len, printed("--quick").stdout.splitlines())) <= 80


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system has no CPU affinity")
@pytest.mark.usefixtures("small", "alone")
def test_afterwards_the_process_may_use_all_its_cores_again():
    before = os.sched_getaffinity(0)
    bench("--quick", "--only", "scalar")
    assert os.sched_getaffinity(0) == before


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_process_that_ends_before_it_answers_is_an_error_with_its_last_words():
    with Worker() as worker, pytest.raises(ProcessFailedError, match="TypeError"):
        worker.ask("table_memory", ads=1)


@pytest.mark.usefixtures("small", "alone")
def test_what_could_not_be_measured_has_an_exit_code_of_its_own(monkeypatch):
    monkeypatch.setattr("negotiator_bench.scalar.six_clauses", lambda: "Requirements = (\n")
    done = bench("--quick", "--only", "scalar")
    assert done.exit_code == 4
    assert done.stderr.startswith("error: ")
