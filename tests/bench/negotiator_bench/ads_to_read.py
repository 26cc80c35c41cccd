"""Made ads that are read one after the other, each with values of its own: slots, job ads, and resource requests."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from negotiator_bench.jobs import job_class
from negotiator_bench.templates import long_form, template
from negotiator_bench.wide import wide_slot

_PROCS: Final = 20  # of a cluster


def unlike_job(i: int) -> str:
    """Make job ``i`` of a queue of clusters of 20 jobs, as ``condor_q -long`` prints it; 17 attributes differ."""
    rng = random.Random(f"job ad {i}")  # noqa: S311 - repeatable, not secret
    cluster, proc = divmod(i, _PROCS)
    of_cluster = random.Random(f"cluster {cluster}")  # noqa: S311
    owner = f"user{of_cluster.randrange(1000)}"
    date = 1_795_000_000 + cluster // 3
    ad = template("job.ad") | {
        "Args": f'"--seed {rng.randrange(10**9)} --part {proc}"',
        "ClusterId": f"{cluster + 1}",
        "DiskUsage": f"{rng.randrange(50, 40_000_000)}",
        "EnteredCurrentStatus": f"{date}",
        "Err": f'"err.{cluster + 1}.{proc}"',
        "GlobalJobId": f'"submit.example.org#{cluster + 1}.{proc}#{date}"',
        "ImageSize": f"{rng.randrange(50, 4_000_000)}",
        "Iwd": f'"/home/{owner}/run{cluster}"',
        "Out": f'"out.{cluster + 1}.{proc}"',
        "Owner": f'"{owner}"',
        "ProcId": f"{proc}",
        "QDate": f"{date}",
        "RemoteWallClockTime": f"{rng.random() * 1000:.6f}",
        "RequestDisk": f"{of_cluster.randrange(1, 1000) * 1024}",
        "RequestMemory": f"{of_cluster.choice((256, 512, 1024, 2048, 4096))}",
        "ServerTime": f"{date + 77}",
        "User": f'"{owner}@example.org"',
    }
    return long_form(ad)


ADS: Final[Mapping[str, Callable[[int], str]]] = MappingProxyType(
    {"slots": wide_slot, "job ads": unlike_job, "requests": job_class}
)
"""The functions that make the text of an ad by its number, without a blank line at its end."""
