"""Thirty recorded cycles of a pool with quotas, accounting groups and preemption are decided the same again, byte for byte."""

import attrs
import pytest
from click.testing import CliRunner

from fair_share import submitter
from negotiator.audit.recorded_cycle import RecordedCycle
from negotiator.bundle import load_bundle
from negotiator.cli import main
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from negotiator.runtime.cycle_recorder import CycleRecorder
from negotiator.runtime.state_manager import StateManager
from pools import NOW, job, slot, snapshot

CYCLES = 30
CONF = """
GROUP_NAMES = physics, physics.cms, biology
GROUP_QUOTA_physics = 6
GROUP_QUOTA_DYNAMIC_physics.cms = 0.5
GROUP_ACCEPT_SURPLUS_physics.cms = true
GROUP_QUOTA_DYNAMIC_biology = 0.5
PREEMPTION_REQUIREMENTS = MY.RemoteUserPrio > TARGET.SubmitterUserPrio * 1.1 && MY.TotalJobRunTime >= 120
PRIORITY_HALFLIFE = 600
"""
QUOTAS = """{
   name         per_host
   description  "no user fills a host"
   limit        name share users {*} hosts {*} to slots=2
}
"""
BUNDLE = {
    "pool.yaml": "order: submitters\naccounting: {trust_names: true}\n",
    "fair-share.conf": CONF,
    "quotas.rqs": QUOTAS,
}
#: The users with their accounts, how many jobs they submit, and every how many cycles.
USERS = [
    ("ann", "physics.ann", 5, 3),
    ("eve", "physics.cms.eve", 6, 4),
    ("tim", "biology.tim", 4, 5),
    ("bob", "bob", 7, 6),
]


@attrs.define
class LivelyPool:
    """Slots of three hosts whose jobs run for a few minutes, and idle jobs that keep coming."""

    idle: dict = attrs.field(factory=dict)  # ads' values by job id
    running: dict = attrs.field(factory=dict)  # by slot: the job id, since when, and its end
    ran: dict = attrs.field(factory=dict)

    def submit(self, number):
        for place, (user, account, count, every) in enumerate(USERS):
            if number % every == place % every:
                for proc in range(count):
                    self.idle[f"{100 * number + place}.{proc}"] = (user, account)

    def snapshot(self, now):
        jobs = [self.job(each, *own) for each, own in self.idle.items()]
        slots = [self.slot(number, now) for number in range(12)]
        own = {each[1]: each for each in (*self.ran.values(), *self.idle.values())}
        jobs += [
            self.job(each, *self.ran[each], JobStatus="2", RemoteHost=f'"{name}"')
            for name, (each, _, _) in self.running.items()
        ]
        return snapshot(slots, jobs, submitters=[submitter(account) for account in own])

    @staticmethod
    def job(each, user, account, **more):
        cluster, proc = each.split(".")
        own = {"Owner": f'"{user}"', "User": f'"{user}@d"', "ClusterId": cluster, "ProcId": proc}
        group = {"AccountingGroup": f'"{account}"'} if "." in account else {}
        return job(**own, **group, GlobalJobId=f'"h#{each}#1"', RequestCpus="1", **more)

    def slot(self, number, now):
        name = f"s{number}@h{number % 3}"
        own = {"Name": f'"{name}"', "Machine": f'"h{number % 3}"', "Cpus": "1", "Rank": "0.0"}
        if name in self.running:
            each, since, _ = self.running[name]
            user, account = self.ran[each]
            own |= {"State": '"Claimed"', "RemoteUser": f'"{account}@d"', "RemoteOwner": f'"{user}@d"'}
            own |= {"JobId": f'"{each}"', "GlobalJobId": f'"h#{each}#1"', "CurrentRank": "0.0"}
            own |= {"TotalJobRunTime": str(int(now - since))}
        return slot(number, **own)

    def use(self, matches, now):
        """Start the jobs of matches, after those end whose time is over."""
        for name in [name for name, (_, _, end) in self.running.items() if end <= now]:
            del self.running[name]
        for match in matches:
            if match.slot in self.running:
                self.idle[self.running[match.slot][0]] = self.ran[self.running[match.slot][0]]
            self.ran[match.job] = self.idle.pop(match.job)
            self.running[match.slot] = match.job, now, now + 60 * (3 + int(match.job.partition(".")[0]) % 7)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a folder with the recorded cycles, and their results."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "bundle").mkdir()
    for name, text in BUNDLE.items():
        (folder / "bundle" / name).write_text(text)
    bundle, pool, results = load_bundle(folder / "bundle"), LivelyPool(), []
    manager = StateManager.begin(bundle, NOW)
    for number in range(1, CYCLES + 1):
        now = NOW + 60 * number
        pool.submit(number)
        found = pool.snapshot(now)
        state, _ = manager.cycle_state(found, now)
        result = run_cycle(found, bundle, Cycle(number, now, bundle.digest), state)
        manager.adopt(result)
        CycleRecorder(folder / "rec", most_seconds=float("inf")).record(
            RecordedCycle.of(result, found, state, bundle.files), now
        )
        pool.use(result.matches, now)
        results.append(result)
    return folder / "rec", results


def test_thirty_cycles_are_decided_the_same_again(recorded):
    folder, _ = recorded
    done = CliRunner().invoke(main, ["replay", str(folder), "--config", ""])
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "30 cycles: 30 the same, 0 different")


def test_quotas_groups_and_preemption_took_part(recorded):
    _, results = recorded
    assert all(not result.failures for result in results)
    matches = [match for result in results for match in result.matches]
    ended = [match.preempts.by for match in matches if match.preempts]
    codes = {
        each.reason.code for result in results for outcome in result.outcomes for each in outcome.removals
    }
    assert len({match.submitter for match in matches}) == len(USERS)
    assert "priority" in ended
    assert {"group_quota", "resource_quota"} <= codes
