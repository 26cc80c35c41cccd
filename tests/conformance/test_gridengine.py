"""Every case of resource quota sets, compared with the results of a real qmaster."""

import pytest

from gridengine import sessions, verdict

SHOWN = 20
"""Number of failures that are printed in full; the others are counted."""


def test_cases_of_quota_sets(quota_cases, quota_file, report):
    """Each text and each decision has the expected result; departures are on the runner's list with reasons."""
    counts, failures = verdict(quota_cases, quota_file)
    report(quota_file, counts)
    summary = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    if failures:
        more = [f"... and {len(failures) - SHOWN} more"] if len(failures) > SHOWN else []
        pytest.fail("\n".join([f"{quota_file}: {summary}", *failures[:SHOWN], *more]), pytrace=False)
    if not any(counts.values()):
        pytest.skip(f"{quota_file} has sessions only")


def test_sessions_of_qconf_and_qquota(quota_cases, quota_sessions, report, tmp_path):
    """Each line of each transcript is printed as recorded, or as the list of departures expects."""
    found = sessions(quota_cases, quota_sessions, tmp_path)
    failures = []
    for section, (lines, wrong) in found.items():
        report(f"{quota_sessions}: {section}", {"passed": lines - len(wrong), "failed": len(wrong)})
        failures += wrong
    assert failures == []
