"""The modes of concurrency limits: by name, by prefix, for all others; in matches, reports and checks."""

import pytest

from negotiator.bundle import check_bundle
from negotiator.records import Mode
from negotiator_condor.charges import limit_usage
from negotiator_condor.settings import ConcurrencyLimits
from pools import cycle, job, matched, slot, snapshot, used, write_bundle

LIMITS = "concurrency_limits: {Matlab: 1, large: 1, large.special: 1}\n"


def settings(**modes):
    return ConcurrencyLimits(
        {"Matlab": 1, "large": 1, "large.special": 1},
        concurrency_limit_modes={name.replace("_", "."): Mode(mode) for name, mode in modes.items()},
    )


@pytest.mark.parametrize(
    ("name", "mode"),
    [("matlab", "warn"), ("large", "dryrun"), ("large.x", "dryrun"), ("large.special", "enforce"), ("other", "enforce")],
)  # fmt: skip
def test_a_name_has_its_own_mode_or_that_of_its_prefix(name, mode):
    assert settings(MATLAB="warn", large="dryrun", large_special="enforce").mode(name) == mode


def test_the_star_is_for_all_other_names():
    found = ConcurrencyLimits({"matlab": 1}, concurrency_limit_modes={"*": Mode.WARN, "matlab": Mode.ENFORCE})
    assert (found.mode("matlab"), found.mode("other"), found.mode("a.b")) == ("enforce", "warn", "warn")


def test_a_limit_that_does_not_enforce_names_the_matches_that_it_would_have_refused(tmp_path):
    own = write_bundle(tmp_path / "b", f"{LIMITS}concurrency_limit_modes: {{matlab: warn, large: dryrun}}\n")
    jobs = [job(number, ConcurrencyLimits='"matlab, large.x"') for number in range(2)]
    result = cycle(snapshot([slot(number) for number in range(4)], jobs), own)
    assert len(matched(result)) == 2
    reasons = [(reason.provenance.rule, str(reason.mode)) for reason in result.matches[1].warnings]
    assert reasons == [("concurrency limit matlab", "warn"), ("concurrency limit large.x", "dryrun")]
    assert not result.matches[0].warnings
    shadow = used(result, Mode.WARN)
    assert (shadow["condor.matlab"], "condor.matlab" in used(result)) == (2_000_000, False)


def test_reports_show_modes_where_there_are_any():
    assert not any("mode" in entry for entry in limit_usage(settings(), {}))
    entries = limit_usage(settings(matlab="warn"), {("matlab",): 2_000_000})
    shown = {entry["limit"]: (entry.get("used"), entry["mode"]) for entry in entries}
    assert (shown["matlab"], shown["large"], shown["*"]) == ((2, "warn"), (0, "enforce"), (None, "enforce"))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("{matlab: Warn}", "concurrency_limit_modes.matlab", "warn"),
        ("{matlb: warn}", "no concurrency limit is configured for matlb", "did you mean matlab?"),
        ("{matlab: warn, Matlab: dryrun}", "matlab and Matlab are the same name", "remove one of the two"),
    ],
)
def test_check_refuses_unknown_modes_and_names_with_their_place(tmp_path, text, message, hint):
    (tmp_path / "pool.yaml").write_text(f"{LIMITS}concurrency_limit_modes:\n  {text}\n")
    (problem,) = check_bundle(tmp_path)
    assert message in problem.message
    assert hint in f"{problem.message} {problem.hint}"
    assert (problem.source.file.endswith("pool.yaml"), problem.source.line) == (True, 3)
