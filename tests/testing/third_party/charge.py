"""A charge: at most so many running jobs of each user, as the bundle says."""

import attrs

from negotiator.plugin import Charge, Quota, Section, hookimpl


@attrs.frozen
class JobLimit:
    jobs_per_user: int = 1


@hookimpl
def negotiator_section():
    return Section(schema=JobLimit)


@hookimpl
def negotiator_job_attributes():
    return []


@hookimpl
def negotiator_charges(request, settings):
    label = Quota(rule="jobs-per-user", text=f"jobs of {request.user}", code="too_many_jobs")
    yield Charge(("jobs", request.user), 1, settings.jobs_per_user, label)


@hookimpl
def negotiator_usage(report, used):
    if report == "jobs":
        for (_, user), jobs in used.sums.items():
            yield {"user": user, "jobs": jobs}
