"""Ads of other pools, of many versions of HTCondor: every file is read, or a problem says why not."""

import pytest

from negotiator.classad.syntax import Literal
from negotiator.pool import read_ads, read_pool
from negotiator.records import Severity

pytestmark = pytest.mark.data

# Slots, jobs, schedds, submitters, others, problems; each file by itself.
EXPECTED = {
    "autopyfactory_gt5_pilot.long": (0, 0, 0, 0, 0, 1),  # a job that was never submitted has no ClusterId
    "chtc_held_longjob_2022.long": (0, 1, 0, 0, 0, 0),
    "glideinwms_condor_q.xml": (0, 7, 0, 0, 0, 0),
    "glideinwms_schedd.xml": (0, 0, 2, 0, 0, 0),
    "glideinwms_startd.xml": (3, 0, 0, 0, 0, 0),
    "golang_negtest_flatpool_SYNTHETIC.long": (1, 0, 0, 1, 0, 0),
    "gratia_condor_history_perjob.long": (0, 15, 0, 0, 0, 0),
    "hepcloud_condor_q.json": (0, 2, 0, 0, 0, 0),
    "hepcloud_condor_status.json": (1, 0, 0, 0, 0, 0),
    "hepcloud_glidefactory_entries.json": (0, 0, 0, 0, 1, 1),
    "hepcloud_glidefactoryclient.json": (0, 0, 0, 0, 1, 1),
    "hepgc_condor_machines.long": (2, 0, 0, 0, 0, 0),
    "hepgc_condor_q.long": (0, 1, 0, 0, 0, 0),
    "htc_multimatch_startd.long": (1, 0, 0, 0, 0, 0),
    "htc_pybind_old_ad.long": (0, 1, 0, 0, 0, 0),
    "htc_status_af_first.long": (4, 0, 0, 0, 0, 0),
    "htc_status_af_second.long": (4, 0, 0, 0, 0, 0),
    "htc_status_basic4slot.long": (2, 0, 0, 0, 0, 0),
    "htc_status_pslot8core.long": (3, 0, 0, 0, 0, 0),
    "lapis_htcondor_jobs.csv": (0, 0, 0, 0, 0, 1),
    "lapis_htcondor_pools.csv": (0, 0, 0, 0, 0, 1),
    "lapis_job_list_minimal.json": (0, 0, 0, 0, 0, 4),  # jobs without any id
    "mivade_condor_q.json": (0, 10, 0, 0, 0, 0),
    "ospool_ap40_epoch_history_2025.long": (0, 44, 0, 0, 89, 0),  # 45 beginnings of runs and 44 transfers
    "ospool_job_epochs_sanitized.json": (0, 44, 0, 0, 0, 0),
    "owl_running_job_2010.long": (0, 1, 0, 0, 0, 0),
    "redhat_pool_history_2010.long": (0, 300, 0, 0, 0, 0),
    "wmcore_crab_job.long": (0, 1, 0, 0, 0, 0),
}


def counts(pool):
    tables = (pool.slots, pool.jobs, pool.schedds, pool.submitters)
    return (*map(len, tables), pool.other + pool.private, len(pool.problems))


def test_every_file_is_known(real_ads):
    """The expectations below cover the folder."""
    assert {path.name for path in real_ads.iterdir() if path.suffix != ".md"} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_by_itself(real_ads, name):
    """As many ads of each kind as expected, and a problem for everything left out."""
    assert counts(read_pool([real_ads / name])) == EXPECTED[name]


def test_all_together(real_ads):
    """Read as one pool, nothing is lost but ads that a later file repeats, each with a warning."""
    pool = read_pool([real_ads])
    again = [problem for problem in pool.problems if "was read before" in problem.message]
    total = [sum(column) for column in zip(*EXPECTED.values(), strict=True)]
    assert len(again) == 4 + 43  # the same machines a little later; the same jobs in another format
    assert counts(pool) == (total[0] - 4, total[1] - 43, *total[2:5], total[5] + 47)


def test_the_same_jobs_in_long_form_and_json_are_equal(real_ads):
    """43 jobs were kept in two formats: the same trees, but for reals, of which long form has fewer digits."""
    one, other = (
        {ad.string("GlobalJobId"): ad for ad in read_pool([real_ads / name]).jobs.ads}
        for name in ("ospool_ap40_epoch_history_2025.long", "ospool_job_epochs_sanitized.json")
    )
    assert len(one.keys() & other.keys()) == 43
    for key in one.keys() & other.keys():
        for name, expr in other[key].items():
            if not (isinstance(expr, Literal) and isinstance(expr.value, float)):
                assert one[key].get(name) == expr, name


def test_problems_have_a_place_and_a_message(real_ads):
    """Every problem has a file, a message, and a line unless it is about the whole file."""
    for problem in read_pool([real_ads]).problems:
        assert problem.source.file.startswith(str(real_ads))
        assert problem.source.line or "holds no ads" in problem.message
        assert problem.severity is not Severity.ERROR or problem.hint


def test_claim_ids_of_real_ads_are_dropped(real_ads):
    """An old job ad has a ClaimId; only its public part stays."""
    ((ad, _),) = read_ads(real_ads / "owl_running_job_2010.long").ads
    assert "ClaimId" not in ad
    assert "PublicClaimId" in ad
