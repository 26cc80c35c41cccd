"""``make bench-large``: its pool, and the figures of a small one."""

from click.testing import CliRunner

from negotiator_bench.large import LargePool, large

SMALL = LargePool("mixed", slots=40, jobs=60, classes=6, submitters=3)


def test_jobs_of_all_classes_are_shared_out_among_the_submitters(tmp_path):
    SMALL.write(tmp_path)
    jobs = (tmp_path / "jobs.ads").read_text().strip().split("\n\n")
    assert len(jobs) == 60
    assert len({line for ad in jobs for line in ad.splitlines() if line.startswith("GlobalJobId ")}) == 60
    users = {line for ad in jobs for line in ad.splitlines() if line.startswith("User ")}
    assert users == {f'User = "u{number}@example.org"' for number in range(3)}


def test_a_small_pool_is_measured_without_judging_the_targets_of_the_large_one():
    arguments = ["--slots", "40", "--jobs", "60", "--classes", "6", "--submitters", "3"]
    done = CliRunner().invoke(large, arguments)
    assert done.exit_code == 0, done.output
    (matches,) = [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["matches"]]
    assert int(matches[1]) > 0
    assert "met" not in done.stdout
    assert "missed" not in done.stdout
