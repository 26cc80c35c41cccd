"""Every recorded negotiation cycle, run under ``order: submitters``: matches, rejections, spins, shares and limits."""

from collections import Counter

import pytest

import condor_cycle


def test_recorded_negotiation_cycles(condor_cases, condor_file, report, tmp_path):
    """Each case agrees in every number, apart from those that need a part that is not built."""
    content = condor_cases.read(condor_file)
    failures, counts, missing = [], Counter(passed=0, failed=0), Counter()
    for case in content["cases"]:
        reason = condor_cycle.not_built(case)
        if reason is not None:
            missing[reason] += 1
            continue
        found = [*condor_cycle.compared(content, case, tmp_path / case["id"])]
        counts["failed" if found else "passed"] += 1
        failures += found
    without = {f"not built: {reason}": number for reason, number in missing.items()}
    report(f"{condor_file} (cycles)", counts | without)
    if failures:
        pytest.fail("\n".join([f"{condor_file}: {dict(counts)}", *failures[:30]]), pytrace=False)
