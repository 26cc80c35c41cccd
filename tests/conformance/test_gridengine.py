"""Every case of resource quota sets, against what a real qmaster did."""

import pytest

from gridengine import sessions, verdict

SHOWN = 20
"""Failures that are told in full; of the others there is the number."""


def test_cases_of_quota_sets(quota_cases, quota_file, report):
    """Each text and each decision comes to what is expected; what departs is on the runner's list, with its reason."""
    counts, failures = verdict(quota_cases, quota_file)
    report(quota_file, counts)
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    if failures:
        more = [f"... and {len(failures) - SHOWN} more"] if len(failures) > SHOWN else []
        pytest.fail("\n".join([f"{quota_file}: {told}", *failures[:SHOWN], *more]), pytrace=False)
    if not any(counts.values()):
        pytest.skip(f"{quota_file} has sessions only")


def test_sessions_of_qconf_and_qquota(quota_cases, quota_sessions, report, tmp_path):
    """Each line of each transcript is printed as recorded, or as the list of departures says."""
    found = sessions(quota_cases, quota_sessions, tmp_path)
    failures = []
    for section, (lines, wrong) in found.items():
        report(f"{quota_sessions}: {section}", {"passed": lines - len(wrong), "failed": len(wrong)})
        failures += wrong
    assert failures == []
