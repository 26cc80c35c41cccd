"""A site like the cluster that Grid Engine's transcripts were recorded on (``env_std.yaml``): a bundle, and a pool of ads.

``all.q`` is the queue ``root.all.q`` here. Running jobs are shown by job ads, and by the claimed slots that they run on.
"""

from __future__ import annotations

import yaml

from negotiator.classad import unparse
from negotiator.plugin import CommandTargets
from negotiator.runtime.state import StateStore
from pools import ad

SCHEDD, DOMAIN = "qm", "pool"
#: The time at which the jobs of the transcripts began to run.
NOW = 1_795_199_229.0
FIRST_JOB = 1532
SLOTS = "slots"

RUNNING = (
    {"user": "alice", "queue": "all.q", "host": "durin"},
    {"user": "alice", "pe": "smp", "slots": 2, "queue": "fast.q", "host": "durin", "project": "p1"},
    {"user": "bob", "pe": "mpi", "slots": 4, "queue": "all.q", "host": "lxa"},
    {"user": "roland", "queue": "my.q", "host": "carc", "resources": {"virtual_free": "2g"}},
    {"user": "andre", "queue": "all.q", "host": "lxb", "project": "p2", "resources": {"virtual_free": "3g"}},
    {"user": "roland", "queue": "all.q", "host": "lxa", "project": "p1", "resources": {"compiler_lic": "1"}},
    {"user": "erin", "queue": "all.q", "host": "solx"},
)
"""The jobs that ran while the transcripts were recorded, in the order of their numbers."""


class _Dumper(yaml.SafeDumper):
    """Writes no aliases, which the bundle does not accept."""

    def ignore_aliases(self, _data):
        return True


def write_site(folder, env, running=(), files=None):
    """Write the bundle and the pool below a folder; return the targets of commands.

    :param env: the contents of ``env_std.yaml``.
    :param running: jobs, as the decision cases have them.
    :param files: more files of the bundle, by name, such as ``q.rqs``.
    """
    bundle = write_bundle(folder / "bundle", env, files)
    StateStore.open(folder / "state").close()
    return CommandTargets(
        bundle=bundle,
        state=folder / "state",
        audit_log=folder / "audit",
        pool=(write_pool(folder / "pool", env, running),),
        now=NOW,
    )


def options(places):
    """Return the options that give a command its targets."""
    return [
        *("--bundle", str(places.bundle), "--state", str(places.state), "--audit-log", str(places.audit_log)),
        *(word for path in places.pool for word in ("--pool", str(path))),
        *("--now", str(places.now)),
    ]


def write_bundle(folder, env, files=None):
    """Write the bundle: root may configure the scheduler, everybody may submit to every queue."""
    folder.mkdir(parents=True)
    groups = {user: [group] for user, group in env["unix_group"].items()}
    _write(folder / "pool.yaml", {"scheduleracl": "root", "groups": {"map": "groups.yaml"}})
    _write(folder / "groups.yaml", groups)
    _write(folder / "queues.yaml", _queues(env))
    _write(folder / "gridengine.yaml", gridengine(env))
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    return folder


def gridengine(env):
    """Return the contents of ``gridengine.yaml``."""
    pes = {name: str(rule).split(" ")[0] for name, rule in env["pes"].items()}
    return {
        "complexes": [{key: str(value) for key, value in each.items()} for each in env["complexes"]],
        "usersets": env["usersets"],
        "hostgroups": env["hostgroups"],
        "projects": env["projects"],
        "pes": pes,
        "hosts": {name: {"complex_values": _values(host)} for name, host in env["hosts"].items()},
        "queues": {
            name: {SLOTS: queue["slots_per_instance"], "pe_list": list(pes)}
            for name, queue in env["queues"].items()
        },
    }


def _values(host):
    own = {name: value for name, value in host.items() if name != "capacities"}
    return {name: _text(value) for name, value in {**own, **host["capacities"]}.items()}


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _queues(env):
    tree = {}
    for name in env["queues"]:
        parent, _, leaf = name.rpartition(".")
        tree.setdefault(parent, []).append({"name": leaf})
    parents = [{"name": name, "parent": True, "queues": leaves} for name, leaves in tree.items()]
    root = {"name": "root", "submitacl": "*", "adminacl": "root", "queues": parents}
    return {"partitions": [{"name": "default", "queues": [root], "placementrules": [{"name": "provided"}]}]}


def write_pool(folder, env, running=()):
    """Write the ads of a pool with running jobs, replacing the previous ones."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = list(running)
    hosts = [job.get("host") or next(iter(env["hosts"])) for job in jobs]
    numbers = [hosts[:place].count(host) + 1 for place, host in enumerate(hosts)]
    names = [f"slot1_{number}@{host}" for number, host in zip(numbers, hosts, strict=True)]
    users = dict.fromkeys(job["user"] for job in jobs)
    _write_ads(folder / "machines.ads", [_machine(name, host) for name, host in env["hosts"].items()])
    _write_ads(
        folder / "claimed.ads", map(_claimed, jobs, hosts, names, range(FIRST_JOB, FIRST_JOB + len(jobs)))
    )
    _write_ads(folder / "jobs.ads", map(_job, jobs, names, range(FIRST_JOB, FIRST_JOB + len(jobs))))
    _write_ads(folder / "schedds.ads", [ad(MyType='"Scheduler"', Name=f'"{SCHEDD}"', Machine=f'"{SCHEDD}"')])
    _write_ads(folder / "submitters.ads", map(_submitter, users))
    return folder


def _machine(name, host):
    """The unclaimed rest of a host, with enough of everything."""
    return ad(
        MyType='"Machine"',
        Name=f'"slot1@{name}"',
        Machine=f'"{name}"',
        State='"Unclaimed"',
        PartitionableSlot="true",
        TotalCpus=str(host["num_proc"]),
        Cpus="1000",
        Memory="1000000",
        Disk="1000000",
        Requirements="true",
    )


def _claimed(job, host, name, number):
    slots = str(job.get(SLOTS, 1))
    return ad(
        MyType='"Machine"',
        Name=f'"{name}"',
        Machine=f'"{host}"',
        State='"Claimed"',
        Activity='"Busy"',
        DynamicSlot="true",
        Cpus=slots,
        Memory="1024",
        Disk="1000",
        Requirements="true",
        RemoteOwner=f'"{job["user"]}@{DOMAIN}"',
        RemoteUser=f'"{job["user"]}@{DOMAIN}"',
        JobId=f'"{number}.0"',
        GlobalJobId=_global_id(number),
    )


def _job(job, name, number):
    requests = {f"Request{key}": f'"{_text(value)}"' for key, value in job.get("resources", {}).items()}
    quoted = {"Project": job.get("project"), "ParallelEnvironment": job.get("pe")}
    return ad(
        MyType='"Job"',
        ClusterId=str(number),
        ProcId="0",
        GlobalJobId=_global_id(number),
        JobStatus="2",
        QDate=str(int(NOW)),
        Owner=f'"{job["user"]}"',
        User=f'"{job["user"]}@{DOMAIN}"',
        Cmd='"/bin/sleep"',
        RemoteHost=f'"{name}"',
        Queue=f'"root.{job.get("queue", "all.q")}"',
        RequestCpus=str(job.get(SLOTS, 1)),
        RequestMemory="1024",
        Requirements="true",
        **{key: value and f'"{value}"' for key, value in quoted.items()},
        **requests,
    )


def _submitter(user):
    return ad(MyType='"Submitter"', Name=f'"{user}@{DOMAIN}"', ScheddName=f'"{SCHEDD}"', RunningJobs="1")


def _global_id(number):
    return f'"{SCHEDD}#{number}.0#{int(NOW)}"'


def _write(path, content):
    path.write_text(yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True))


def _write_ads(path, ads):
    """Ads in the long form, with an empty line between them."""
    texts = ("".join(f"{name} = {unparse(tree)}\n" for name, tree in each.items()) for each in ads)
    path.write_text("\n".join(texts))
