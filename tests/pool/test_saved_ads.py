"""The ads of a live pool are saved as files that are read as the pool was: all of them or none, without secrets."""

import pytest

from negotiator.errors import InvalidCallError
from negotiator.pool import read_pool
from negotiator.pool.saved_ads import SavedAds

SLOT = """MyType = "Machine"
Name = "slot1@h"
MyAddress = "<127.0.0.1:1>"
State = "Unclaimed"
Requirements = true
ClaimId = "<127.0.0.1:1>#1#1#secret1"
'capability' = "secret2"
_condor_priv_x = "secret3"

"""
JOB = """MyType = "Job"
ClusterId = {0}
ProcId = 0
Owner = "ann"
JobStatus = 1
ClaimIds = "secret4"

"""
OTHER = 'MyType = "Negotiator"\nName = "n"\n\n'


def saved(folder, *texts, **options):
    with SavedAds(folder, **options) as ads:
        ads.add("test", texts)
        ads.save()
        return ads.snapshot()


@pytest.mark.parametrize("compress", [False, True])
def test_the_files_are_read_as_the_ads_were(tmp_path, compress):
    before = saved(tmp_path / "pool", SLOT, JOB.format(1) + JOB.format(2), OTHER, compress=compress)
    after = read_pool([tmp_path / "pool"])
    for kind in ("slots", "jobs"):
        ads, others = (
            [dict(ad.items()) for ad in getattr(snapshot, kind).ads] for snapshot in (before, after)
        )
        assert ads == others
    assert (len(after.slots), len(after.jobs)) == (1, 2)
    names = {path.name.removesuffix(".gz") for path in (tmp_path / "pool").iterdir()}
    assert names == {"slots.ads", "jobs.ads", "other.ads"}


def test_no_secret_is_saved(tmp_path):
    saved(tmp_path / "pool", SLOT + JOB.format(1))
    assert not any(b"secret" in path.read_bytes() for path in (tmp_path / "pool").iterdir())


def test_texts_may_end_within_an_ad(tmp_path):
    text = SLOT + JOB.format(1) + JOB.format(2)
    saved(tmp_path / "whole", text)
    saved(tmp_path / "cut", *text)
    for name in ("slots.ads", "jobs.ads"):
        assert (tmp_path / "cut" / name).read_text() == (tmp_path / "whole" / name).read_text()


def test_nothing_is_saved_if_the_pool_fails_in_between(tmp_path):
    def texts():
        yield SLOT
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"), SavedAds(tmp_path / "pool") as ads:
        ads.add("test", texts())
    assert not list(tmp_path.iterdir())


def test_only_a_folder_of_saved_ads_is_replaced_and_only_if_wanted(tmp_path):
    saved(tmp_path / "pool", SLOT, compress=True)
    with pytest.raises(InvalidCallError, match="--replace"):
        SavedAds(tmp_path / "pool")
    saved(tmp_path / "pool", JOB.format(1), replace=True)
    assert [path.name for path in (tmp_path / "pool").iterdir()] == ["jobs.ads"]
    (tmp_path / "pool" / "thesis.txt").write_text("precious")
    with pytest.raises(InvalidCallError, match="not a folder of saved ads"):
        SavedAds(tmp_path / "pool", replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["pool"]


def test_an_empty_folder_may_be_used(tmp_path):
    (tmp_path / "pool").mkdir()
    saved(tmp_path / "pool", SLOT)
    assert (tmp_path / "pool" / "slots.ads").exists()
