"""Who ran out of time in a cycle, as ``negotiator run`` prints it."""

import pytest

from cycle_clock import SlowMatching, load, requests_of, timed
from fair_share import submitter
from negotiator.cli.cycle_summary import print_summary
from negotiator.cli.report import print_report
from negotiator.cli.selection import Selection
from pools import slot, snapshot


@pytest.fixture
def printed(tmp_path, capsys):
    """Return a function that runs a cycle in which each turn takes 30 seconds, and returns the lines that are printed."""

    def run(settings, show, is_stopped=lambda: False):
        (tmp_path / "pool.yaml").write_text(
            f"order: submitters\naccounting: {{trust_names: true}}\n{settings}"
        )
        clock = SlowMatching(lambda _request: 30.0)
        bundle = load(tmp_path, clock)
        jobs = [each for name in ("ann", "sue") for each in requests_of(name, 4)]
        ads = [submitter(name, 4) for name in ("ann", "sue")]
        pool = snapshot([slot(number) for number in range(9)], jobs, submitters=ads)
        result = timed(bundle, pool, clock, is_stopped=is_stopped)
        show(result, bundle)
        return capsys.readouterr().out.splitlines()

    return run


def summary(result, bundle):
    print_summary((), result, bundle)


def report(result, bundle):
    print_report((), result, bundle, Selection(full=True))


def test_the_summary_names_the_first_with_the_setting_its_place_and_the_limit(printed):
    lines = printed("NEGOTIATOR_MAX_TIME_PER_SUBMITTER: 25\n", summary)
    expected = "Out of time: ann@d at h: NEGOTIATOR_MAX_TIME_PER_SUBMITTER is 25 s (pool.yaml:3:1)"
    assert expected in lines
    assert any("the submitter reached its time limit in this cycle" in line for line in lines)


def test_a_default_has_no_place(printed):
    assert "Out of time: ann@d at h: NEGOTIATOR_MAX_TIME_PER_SUBMITTER is 60 s (default)" in printed(
        "NEGOTIATOR_MAX_TIME_PER_SCHEDD: 1000\n", summary
    )


def test_the_end_by_an_administrator_is_named(printed):
    assert "Out of time: an administrator ended the cycle" in printed("", summary, lambda: True)


def test_the_report_lists_all(printed):
    lines = printed("NEGOTIATOR_MAX_TIME_PER_SUBMITTER: 25\n", report)
    start = lines.index("Time limits that were reached")
    assert [line.split() for line in lines[start + 1 : start + 4]] == [
        ["TIME", "OF", "SECONDS", "SETTING", "SOURCE"],
        ["ann@d", "at", "h", "25", "NEGOTIATOR_MAX_TIME_PER_SUBMITTER", "pool.yaml:3:1"],
        ["sue@d", "at", "h", "25", "NEGOTIATOR_MAX_TIME_PER_SUBMITTER", "pool.yaml:3:1"],
    ]


def test_without_a_limit_reached_nothing_is_printed(printed):
    limits = "".join(f"NEGOTIATOR_MAX_TIME_PER_{name}: 999\n" for name in ("SUBMITTER", "SCHEDD", "PIESPIN"))
    for show in (summary, report):
        assert not any("ime limits" in line or "Out of time" in line for line in printed(limits, show))
