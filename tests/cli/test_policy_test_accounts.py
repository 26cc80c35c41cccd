"""Tests of policies with accounts: shares, priorities and ceilings."""

import pytest

from bundle_with_tests import BUNDLE

ACCOUNTS = """
slots: [{repeat: 8}]
tests:
  - name: shares
    accounts:
      ann@test: {priority: 6, factor: 1000}
      sue@test: {priority: 2}
    jobs:
      - {repeat: 8, Owner: ann, ClusterId: 1}
      - {repeat: 8, Owner: sue, ClusterId: 2}
    granted: {ann@test: 2, sue@test: 6, root.default: 8}
"""


def test_accounts_decide_about_shares(tested_bundle):
    tested_bundle.pass_with(ACCOUNTS)
    output = tested_bundle.run_with(ACCOUNTS.replace("ann@test: 2", "ann@test: 3")).output
    assert "a_test.yaml:11:25: " in output
    assert "granted: expected ann@test 3, got 2 (ann@test 2, root.default 8, sue@test 6)" in output


def test_priorities_decay_since_the_last_cycle_and_running_jobs_raise_them(tested_bundle):
    """After a half-life of a day the priorities are (6 + 0) / 2 and (2 + 4) / 2: alike."""
    tested_bundle.pass_with(
        ACCOUNTS.replace("[{repeat: 8}]", "[{repeat: 8}, {Machine: other, Name: slot9@other, Cpus: 4}]")
        .replace(
            "granted: {ann@test: 2, sue@test: 6, root.default: 8}", "granted: {ann@test: 6, sue@test: 2}"
        )
        .replace(
            "    jobs:",
            "    since_last_cycle: 86400\n    running: [{Owner: sue, RemoteHost: slot9@other}]\n    jobs:",
        )
    )


def test_the_ceiling_of_an_account_is_the_reason(tested_bundle):
    tested_bundle.pass_with(
        "slots: [{}, {}]\ntests:\n  - name: a ceiling\n    accounts: {ann@test: {ceiling: 1}}\n"
        "    jobs: [{Owner: ann}, {Owner: ann}]\n"
        "    expect: [{job: 1.1, verdict: waiting, code: ceiling, numbers: {used: 1, limit: 1}}]\n"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("factor: 1000", "factor: 0"),
            "a_test.yaml:6:31: error: factor of ann@test: setfactor needs a value from",
        ),
        (("factor: 1000", "fcator: 1000"), "did you mean factor?"),
        (("ann@test: {", "anne@test: {"), "no job of the test has the account anne@test"),
        (("ann@test: {", "ann: {"), "there are: ann@test, sue@test"),
        (("repeat: 8, Owner: ann", "repeat: 0, Owner: ann"), "repeat: invalid number '0'"),
        (("repeat: 8, Owner: ann", "repeat: 8, ProcId: 4"), "ProcId is that of one ad, repeat makes several"),
        (
            ("root.default: 8", "root.default: many"),
            "granted: the number of matches of root.default must be a whole number",
        ),
        (("accounts:", "now: 2026-03-02T08:00:00\n    accounts:"), "a_test.yaml:5:10: error: now: invalid"),
        (
            ("accounts:", "now: yesterday\n    accounts:"),
            "write seconds since the epoch, or date, time and zone",
        ),
    ],
)
def test_mistakes_in_accounts_and_times_name_their_places(tested_bundle, change, message):
    assert change[0] in ACCOUNTS
    done = tested_bundle.run_with(ACCOUNTS.replace(*change))
    assert (done.exit_code, message in done.output) == (2, True), done.output


def test_an_order_without_accounts_refuses_them(tested_bundle):
    tested_bundle.write("pool.yaml", f"{BUNDLE}order: queues\n")
    done = tested_bundle.run_with(ACCOUNTS)
    assert done.exit_code == 2
    assert "the order of the bundle, queues, has no accounts" in done.output
    assert "hint: with accounts: order: submitters" in done.output
