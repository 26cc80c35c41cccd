"""Pools and policies from Python: what is read, and what errors say."""

import gzip
import shutil
from pathlib import Path

import pytest

import negotiator as n
from pools import job, slot, write_ads

EXAMPLE = Path(__file__).parents[2] / "examples" / "first-pool"


def test_a_pool_is_read_from_files_folders_and_gzipped_files_alike(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "folder")
    files = sorted((tmp_path / "folder").glob("*.ads"))
    digest = n.read_pool(tmp_path / "folder").digest
    assert n.read_pool(*map(str, files)).digest == digest
    for file in files:
        file.with_suffix(".ads.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert n.read_pool(tmp_path / "folder").digest == digest


def test_ads_that_cannot_be_used_are_problems_with_file_and_line(tmp_path):
    write_ads(tmp_path / "slots.ads", slot(0))
    with (tmp_path / "slots.ads").open("a") as file:
        file.write('\nMyType = "Machine"\nName = "broken\n')
    pool = n.read_pool(tmp_path)
    assert len(pool.slots) == 1
    assert "slots.ads:" in str(pool.problems[0])
    assert str(pool.problems[0]) in str(pool)


def test_a_pool_without_a_path_and_one_that_does_not_exist_are_errors(tmp_path):
    with pytest.raises(n.InvalidCallError, match="missing pool"):
        n.read_pool()
    with pytest.raises(n.PoolError, match="does not exist"):
        n.read_pool(tmp_path / "none")


def test_standard_input_is_read_for_a_dash(tmp_path, monkeypatch):
    write_ads(tmp_path / "jobs.ads", job(0), job(1))
    with (tmp_path / "jobs.ads").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert len(n.read_pool("-").jobs) == 2


def test_a_bundle_with_errors_reports_all_of_them_with_their_paths(tmp_path):
    (tmp_path / "pool.yaml").write_text("polices: []\nmatch: both\n")
    with pytest.raises(n.BundleError) as caught:
        n.load_bundle(tmp_path)
    assert len(caught.value.problems) == 2
    assert str(caught.value).count(f"{tmp_path / 'pool.yaml'}:") == 2


def test_a_policy_has_its_folder_digest_plugins_and_queues(tmp_path):
    (tmp_path / "pool.yaml").touch()
    (tmp_path / "queues.yaml").write_text(
        "partitions:\n  - name: default\n    queues:\n      - name: root\n        queues:\n          - name: users\n"
    )
    policy = n.load_bundle(tmp_path)
    assert policy.folder == tmp_path
    assert policy.queues == ("root", "root.users")
    assert any(each.startswith("quotasets ") for each in policy.plugins)
    assert str(tmp_path) in str(policy)


def test_check_reports_what_is_wrong_in_the_folder_by_now(tmp_path):
    (tmp_path / "pool.yaml").touch()
    policy = n.load_bundle(tmp_path)
    assert policy.check() == ()
    (tmp_path / "pool.yaml").write_text("match: both\n")
    assert [str(each.severity) for each in policy.check()] == ["error"]


def test_check_compares_expressions_with_the_ads_of_a_pool(tmp_path):
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "pool.yaml").write_text(
        "policies:\n  - {name: typo, applies_to: startd, expression: MY.TotalMemry < 128}\n"
    )
    write_ads(tmp_path / "slots.ads", slot(0, TotalMemory="4096"))
    policy, pool = n.load_bundle(tmp_path / "bundle"), n.read_pool(tmp_path / "slots.ads")
    found = [str(each) for each in policy.check(pool)]
    assert any("TotalMemry" in each for each in found)
    assert found != [str(each) for each in policy.check()]
