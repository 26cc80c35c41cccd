"""A busy pool made up for the pages: departments with queues and limits, machines of three kinds, running and idle jobs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

NOW = 1_795_200_000
_SCHEDD = "submit.example.org"

QUEUES = """\
# The departments of the pool.
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        limits:
          - limit: nobody has more than a quarter of the pool
            users: ["*"]
            maxresources: {vcore: 128, memory: 512Gi}
        queues:
          - name: physics
            resources:
              guaranteed: {vcore: 96, memory: 192Gi}
              max: {vcore: 224, memory: 768Gi, gpus: 8}
            queues:
              - name: simulation
                resources:
                  max: {vcore: 160, memory: 320Gi}
                limits:
                  - limit: students share what is left
                    groups: [students]
                    maxresources: {vcore: 24}
              - name: analysis
                resources:
                  guaranteed: {vcore: 32, memory: 64Gi}
                  max: {vcore: 64, memory: 256Gi, gpus: 4}
          - name: biology
            maxapplications: 40
            resources:
              guaranteed: {vcore: 64, memory: 256Gi}
              max: {vcore: 160, memory: 512Gi, gpus: 4}
            queues:
              - name: sequencing
                maxapplications: 20
                resources:
                  max: {vcore: 96, memory: 384Gi}
                limits:
                  - limit: each user
                    users: ["*"]
                    maxresources: {vcore: 48}
                    maxapplications: 6
              - name: folding
                maxapplications: 20
                resources:
                  max: {gpus: 4}
          - name: learning
            resources:
              max: {vcore: 96, memory: 384Gi, gpus: 12}
            limits:
              - limit: one user does not take all GPUs
                users: ["*"]
                maxresources: {gpus: 8}
          - name: interactive
            parent: true
            resources:
              guaranteed: {vcore: 16}
              max: {vcore: 32, memory: 64Gi}
          - name: scavenger
            properties:
              priority.offset: "-100"
              priority.policy: fence
    placementrules:
      - name: provided
        create: false
      - name: user
        create: true
        filter: {type: allow, groups: [students]}
        parent: {name: fixed, value: root.interactive}
      - name: fixed
        value: root.scavenger
"""
POLICIES = "order: queues\ngroups:\n  map: groups.yaml\n"
GROUPS = "erin: [students]\nfrank: [students]\nalice: [physicists]\nbob: [physicists]\n"

_REQUIREMENTS = "Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory && TARGET.GPUs >= RequestGPUs\n"
#: Machines: prefix, how many, cores, memory in MiB, GPUs.
_MACHINES = (("node", 28, 16, 65536, 0), ("fat", 4, 32, 393216, 0), ("gpu", 3, 24, 196608, 4))
#: Jobs: user, queue, clusters, running of each, idle of each, cores, memory in MiB, GPUs.
_JOBS = (
    ("alice", "root.physics.simulation", 5, 6, 3, 4, 7168, 0),
    ("bob", "root.physics.simulation", 4, 4, 0, 2, 4096, 0),
    ("erin", "root.physics.simulation", 2, 6, 8, 2, 2048, 0),
    ("bob", "root.physics.analysis", 3, 5, 2, 2, 12288, 0),
    ("carol", "root.biology.sequencing", 6, 2, 1, 4, 16384, 0),
    ("dave", "root.biology.sequencing", 3, 4, 4, 2, 8192, 0),
    ("carol", "root.biology.folding", 1, 3, 2, 4, 16384, 1),
    ("grace", "root.learning", 2, 3, 1, 6, 24576, 1),
    ("heidi", "root.learning", 1, 2, 5, 4, 32768, 1),
    ("frank", "", 3, 2, 0, 2, 4096, 0),
    ("ivan", "", 4, 3, 6, 1, 2048, 0),
)


def _ad(**attributes: object) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in attributes.items())


class _Machines:
    """Free amounts of each machine."""

    def __init__(self) -> None:
        self.free = {
            f"{prefix}{number:02}.example.org": [cores, memory, gpus]
            for prefix, count, cores, memory, gpus in _MACHINES
            for number in range(1, count + 1)
        }
        self.made: Counter[str] = Counter()

    def take(self, cores: int, memory: int, gpus: int) -> str:
        """Return a machine with enough of everything; empty if there is none."""
        wanted = (cores, memory, gpus)
        for name, free in self.free.items():
            if all(has >= needs for has, needs in zip(free, wanted, strict=True)) and bool(free[2]) is bool(
                gpus
            ):
                for place, needs in enumerate(wanted):
                    free[place] -= needs
                self.made[name] += 1
                return name
        return ""


def lively_pool() -> str:
    """Return the ads of the pool in long form."""
    machines, found, cluster = _Machines(), [], 0
    for user, queue, clusters, running, idle, cores, memory, gpus in _JOBS:
        for _ in range(clusters):
            cluster += 1
            for process in range(running + idle):
                host = machines.take(cores, memory, gpus) if process < running else ""
                found += _job(user, queue, f"{cluster}.{process}", (cores, memory, gpus), host, machines)
    for name, (cores, memory, gpus) in machines.free.items():
        found.append(_slot(name, "slot1", cores, memory, gpus, PartitionableSlot=True, State="Unclaimed"))
    found.append(_ad(MyType="Scheduler", Name=_SCHEDD, Machine=_SCHEDD, MyAddress="<192.0.2.1:9618>"))
    idle_jobs = Counter(user for user, _, clusters, _, idle, *_ in _JOBS for _ in range(clusters * idle))
    for user in sorted({each[0] for each in _JOBS}):
        name = f"{user}@example.org"
        found.append(_ad(MyType="Submitter", Name=name, ScheddName=_SCHEDD, IdleJobs=idle_jobs[user]))
    return "\n".join(found)


def _job(
    user: str, queue: str, name: str, wants: tuple[int, int, int], host: str, machines: _Machines
) -> list[str]:
    cluster, process = map(int, name.split("."))
    began = NOW - 86400 + cluster * 1700
    job: dict[str, object] = {
        "MyType": "Job",
        "ClusterId": cluster,
        "ProcId": process,
        "GlobalJobId": f"{_SCHEDD}#{name}#{began}",
        "Owner": user,
        "User": f"{user}@example.org",
        "QDate": began,
        "JobStatus": 2 if host else 1,
        "RequestCpus": wants[0],
        "RequestMemory": wants[1],
        "RequestGPUs": wants[2],
    }
    if queue:
        job["Queue"] = queue
    text = _ad(**job) + _REQUIREMENTS
    if not host:
        return [text]
    slot = f"slot1_{machines.made[host]}"
    claimed = _slot(
        host,
        slot,
        *wants,
        DynamicSlot=True,
        State="Claimed",
        Activity="Busy",
        RemoteOwner=f"{user}@example.org",
        RemoteUser=f"{user}@example.org",
        RemoteScheddName=_SCHEDD,
        JobId=name,
        GlobalJobId=job["GlobalJobId"],
    )
    return [text + _ad(RemoteHost=f"{slot}@{host}", JobCurrentStartDate=began + 300), claimed]


def _slot(host: str, slot: str, cores: int, memory: int, gpus: int, **more: object) -> str:
    text = _ad(
        MyType="Machine", Name=f"{slot}@{host}", Machine=host, Cpus=cores, Memory=memory, GPUs=gpus, **more
    )
    return text + "Requirements = true\n"


def write_lively_pool(folder: Path) -> None:
    """Write the ads (``pool``) and the bundle (``bundle``) into a folder."""
    (folder / "pool").mkdir()
    (folder / "pool" / "pool.ads").write_text(lively_pool())
    (folder / "bundle").mkdir()
    for name, text in (("queues.yaml", QUEUES), ("pool.yaml", POLICIES), ("groups.yaml", GROUPS)):
        (folder / "bundle" / name).write_text(text)
