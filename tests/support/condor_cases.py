"""Conformance cases recorded from condor_negotiator: pools, and what it decided.

A folder of cases has files ``*.yaml`` and ``*.yaml.gz``: a mapping with ``family``, ``templates`` and ``cases``. The ads of
a case are those of its template with its own attributes over them; YAML strings in ads are ClassAd expressions.
"""

from functools import lru_cache
from pathlib import Path

import attrs
import pytest

from golden import UnreadableError, case_files, yaml_content
from negotiator.classad import Ad, evaluate, parse


@attrs.frozen
class Folder:
    """A folder of cases."""

    path: Path

    def files(self):
        """Return the sorted names of the files of cases."""
        return case_files(self.path, ".yaml")

    def read(self, name):
        """Return the contents of a file. Fails the test, with the reason, if it is not a file of cases."""
        path = self.path / name
        try:
            content = _loaded(path)
        except UnreadableError as error:
            pytest.fail(f"{path}: {error}", pytrace=False)
        missing = {"templates", "cases"} - (content.keys() if isinstance(content, dict) else set())
        if missing:
            pytest.fail(f"{path}: missing {' and '.join(sorted(missing))}", pytrace=False)
        return content


_loaded = lru_cache(maxsize=2)(yaml_content)


def slot_ads(content, slots):
    """Return the ads of slots by name."""
    ads = {}
    for slot in slots:
        own = {**content["templates"]["slot"]}
        if slot.get("partitionable"):
            own |= content["templates"]["pslot"]
        own |= {name: value for name, value in slot.items() if name not in {"name", "partitionable"}}
        ads[slot["name"]] = Ad(
            [(name, _parsed(_text(value))) for name, value in own.items() if value is not None]
        )
    return ads


def submitter_values(recorded):
    """Return the attributes of a submitter ad as a case has them."""
    return {
        "Name": f'"{recorded["name"]}"',
        "ScheddName": f'"{recorded["schedd"]}.example.org"',
        "IdleJobs": recorded["idle"],
        "RunningJobs": recorded["running"],
        "WeightedIdleJobs": recorded["weighted_idle"],
        "WeightedRunningJobs": recorded["weighted_running"],
        "LastHeardFrom": recorded["last_heard_from"],
        **recorded.get("ad", {}),
    }


def attribute_ads(rows):
    """Return an ad of the attributes of each row."""
    return [
        Ad([(name, _parsed(_text(value))) for name, value in row.items() if value is not None])
        for row in rows
    ]


def job_ads(content, jobs):
    """Return the ads of all idle jobs of the queues of a case, cluster by cluster."""
    return attribute_ads(_job(content, job, proc) for job in jobs for proc in procs_of(job))


def procs_of(job):
    """Return the numbers of the jobs of a cluster that wait."""
    return job.get("procs", range(job["count"]))


def _job(content, job, proc):
    name, schedd = job["submitter"], f"{job['schedd']}.example.org"
    identity = {
        "ClusterId": job["cluster"],
        "ProcId": proc,
        "JobStatus": 1,
        "AutoClusterId": job.get("autocluster"),
        "Owner": f'"{name.partition("@")[0].rpartition(".")[2]}"',
        "User": f'"{name}"',
        "AccountingGroup": f'"{name.rpartition("@")[0]}"',
        "GlobalJobId": f'"{schedd}#{job["cluster"]}.{proc}#1"',
    }
    own = {key: job[key] for key in job.keys() - _OF_CLUSTERS}
    return content["templates"]["job"] | identity | own


_OF_CLUSTERS = {"submitter", "schedd", "cluster", "count", "autocluster", "procs"}


HEAVIEST = 2.0**30
"""No slot is heavier: sums of weights, in millionths, fit 64 bits."""


def departure(content, case):
    """Return why a case may be decided otherwise than recorded, None if it may not: see docs/fair-share.md, "Quirks"."""
    given, expect = case["given"], case.get("expect", {})
    slots = {slot["name"]: slot for slot in given["slots"]}
    jobs = {f"{job['cluster']}.{proc}": job for job in given.get("jobs", ()) for proc in procs_of(job)}
    if has_odd_weights(content, given):
        return "a slot weight that is not a number, or too large"
    records = (given.get("accounting") or {}).get("resources") or {}
    for name, record in records.items():
        if "MatchedConcurrencyLimits" in record and slots.get(name, {}).get("State") == '"Matched"':
            return "limits of a match of an earlier process"
    for match in expect.get("matches", ()):
        if match["job"] not in jobs:
            return "a match of a job that does not exist"
        ends_limits = match.get("preempts") and "ConcurrencyLimits" in slots[match["slot"]]
        if ends_limits and "ConcurrencyLimits" not in jobs[match["job"]]:
            return "the limits of an ended job are counted for a job without limits"
    return None


def has_odd_weights(content, given):
    """Return whether a slot has a weight that this program replaces."""
    weights = [value_of(ad, "MY.SlotWeight") for ad in slot_ads(content, given["slots"]).values()]
    return any(isinstance(each, float | int) and not each <= HEAVIEST for each in weights)


def value_of(ad, expression):
    """Return the value of an expression in an ad."""
    return evaluate(_parsed(expression), ad)


_parsed = lru_cache(maxsize=10_000)(parse)


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
