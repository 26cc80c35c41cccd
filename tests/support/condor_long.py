"""Recorded runs of many cycles of one pool: the slots and the queue of each cycle, as those before left them."""

import attrs

_OF_CLAIMS = {"name", "user"}


def slots_now(slots, given):
    """Yield the slots of one cycle: static ones, claimed or not, and dynamic ones after those that they were made of."""
    claimed = {each["name"]: each for each in given["claimed"]}
    left = {each["name"]: each for each in given["partitionable_left"]}
    names = {slot["name"] for slot in slots}
    for slot in slots:
        now = {key: value for key, value in left.get(slot["name"], {}).items() if key != "name"}
        yield {**slot, **now, **_claim(claimed.get(slot["name"]))}
        for name, each in claimed.items():
            if name not in names and _parent(name) == slot["name"]:
                yield {"name": name, "DynamicSlot": True, "KFlops": slot.get("KFlops"), **_claim(each)}


def _parent(name):
    slot, _, host = name.partition("@")
    return f"{slot.rpartition('_')[0]}@{host}"


def _claim(claimed):
    if claimed is None:
        return {}
    user = f'"{claimed["user"]}"'
    own = {key: value for key, value in claimed.items() if key not in _OF_CLAIMS}
    state = {"State": '"Claimed"', "Activity": '"Busy"', "CurrentRank": 0.0}
    return {**own, **state, "RemoteUser": user, "RemoteOwner": user}


@attrs.define
class JobQueue:
    """The jobs of a run: those that wait, by cluster, and those that were started, by user, in their order.

    In the recorded runs a job that is preempted does not wait again itself, but the one of its user that was started last.
    """

    clusters: dict = attrs.field(factory=dict)
    started: dict = attrs.field(factory=dict)

    def begin(self, given):
        """Add the jobs that arrived."""
        for each in given["arrivals"]:
            self.clusters[each["cluster"]] = {"schedd": "s1", **each, "procs": [*range(each["count"])]}

    def jobs(self):
        """Return the clusters with jobs that wait."""
        return [each for each in self.clusters.values() if each["procs"]]

    def end(self, matches):
        """Start the jobs of matches, and return those that they preempt."""
        for match in matches:
            cluster, proc = map(int, match["job"].split("."))
            self.clusters[cluster]["procs"].remove(proc)
            if match.get("preempts"):
                before, again = self.started[match["preempts"]].pop()
                self.clusters[before]["procs"] = sorted([*self.clusters[before]["procs"], again])
            self.started.setdefault(match["submitter"], []).append((cluster, proc))


def cycles_of(case):
    """Yield the cycles of a run, each as a case of its own."""
    given, queue = case["given"], JobQueue()
    for entry in case["cycles"]:
        own = entry["given"]
        queue.begin(own)
        submitters = [{"schedd": "s1", "weighted_idle": each["idle"], **each} for each in own["submitters"]]
        now = {
            "now": own["now"],
            "knobs": given["knobs"],
            "slots": [*slots_now(given["slots"], own)],
            "submitters": submitters,
            "jobs": queue.jobs(),
            "accounting": given.get("accounting"),
        }
        yield {"id": f"{case['id']}-{entry['cycle']}", "given": now, "expect": entry["expect"]}
        queue.end(entry["expect"]["matches"])
