"""Quotas in mode warn or dryrun change no decision: the matches are those of the bundle without them."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from negotiator.bundle import load_bundle
from negotiator.records import Mode
from pools import cycle, matched, slot, snapshot
from queueing import app, write

POOL = "placement: {groups: MY.Groups}\n"
SLOTS = [slot(number, Machine=f'"h{number % 3}"') for number in range(9)]
LIMITS, MAXIMA = "negotiator.limits.mode", "negotiator.max.mode"
_MODES = st.sampled_from([*Mode])


def vcore(low, high):
    return st.integers(low, high).map(lambda cores: {"vcore": cores})


def limits(low, high):
    """Limits of a queue: of one user, of all others, of a group."""
    named = st.fixed_dictionaries({"users": st.just(["ann"]), "maxresources": vcore(low, high)})
    others = st.fixed_dictionaries({"users": st.just(["*"]), "maxresources": vcore(low, high)})
    group = st.fixed_dictionaries(
        {"groups": st.lists(st.sampled_from(["dev", "ops"]), min_size=1, unique=True), "maxresources": vcore(low, high)}
    )  # fmt: skip
    return st.tuples(*(st.none() | each for each in (named, others, group))).map(
        lambda found: [each for each in found if each]
    )


#: What a queue may limit, and the modes; amounts decrease with the levels, as ``check`` demands.
def queue(maximum, limit, applications):
    return st.fixed_dictionaries(
        {
            "max": st.none() | vcore(*maximum),
            "limits": limits(*limit),
            "applications": st.integers(*applications),
            "modes": st.tuples(_MODES, _MODES),
        }
    )


QUEUES = st.fixed_dictionaries(
    {
        "root": queue((9, 9), (7, 9), (5, 6)),
        "a": queue((6, 8), (4, 6), (3, 4)),
        "x": queue((4, 6), (1, 4), (1, 2)),
        "z": queue((4, 6), (1, 4), (1, 2)),
    }
)
JOBS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "eve"]),
        st.sampled_from(["dev", "ops", "dev,ops", ""]),
        st.sampled_from(["root.a.x", "root.a.z"]),
        st.integers(1, 2),
        st.sampled_from(["1", "2", "undefined"]),
        st.sampled_from([None, None, 0, 1, 2]),
    ),
    min_size=3,
    max_size=9,
)


def written(chosen, name, above=None, *, enforcing_only=False, **more):
    """Return a queue of ``queues.yaml``; with ``enforcing_only``, without what does not enforce, and without modes."""
    own = chosen[name]
    maxima, of_limits = own["modes"]
    keeps_maxima = not enforcing_only or maxima is Mode.ENFORCE
    keeps_limits = not enforcing_only or of_limits is Mode.ENFORCE
    # A queue below one with a maximum of applications must have one: that of the queue above decides nothing.
    entry = {"name": name, "maxapplications": own["applications"] if keeps_maxima else (above or 99), **more}
    if keeps_maxima and own["max"] and name != "root":
        entry["resources"] = {"max": own["max"]}
    if keeps_limits:
        entry["limits"] = own["limits"]
    if not enforcing_only:
        entry["properties"] = {MAXIMA: str(maxima), LIMITS: str(of_limits)}
    return entry


def configuration(chosen, **how):
    applications = [chosen[name]["applications"] for name in ("root", "a")]
    if how and chosen["root"]["modes"][0] is not Mode.ENFORCE:
        applications[0] = 99
    if how and chosen["a"]["modes"][0] is not Mode.ENFORCE:
        applications[1] = applications[0]
    leaves = [written(chosen, name, applications[1], **how) for name in ("x", "z")]
    inner = written(chosen, "a", applications[0], queues=leaves, **how)
    root = written(chosen, "root", submitacl="*", queues=[inner], **how)
    return json.dumps({"partitions": [{"name": "default", "queues": [root]}]})


def decided(queues, jobs, pool=POOL, slots=SLOTS, **files):
    """Return the cycle of a bundle with these queues and further files."""
    with TemporaryDirectory() as temporary:
        folder = write(Path(temporary) / "b", queues, pool)
        for name, text in files.items():
            (folder / name.replace("_", ".")).write_text(text)
        return cycle(snapshot(slots, jobs), load_bundle(folder))


def ads(jobs):
    """Return the jobs; those with a host run there."""
    return [
        app(
            *(cluster, 0, user, queue),
            Groups=f'"{groups}"',
            RequestCpus=cpus if host is None else "1",
            RequestMemory="100",
            JobStatus="1" if host is None else "2",
            RemoteHost=None if host is None else f'"s{host}@h"',
        )
        for cluster, (user, groups, queue, _, cpus, host) in enumerate(jobs, 1)
    ]


FEW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@FEW
@given(QUEUES, JOBS)
def test_the_matches_are_those_of_the_queues_with_only_what_enforces(chosen, jobs):
    """Also where no quota enforces, and where all do."""
    result = decided(configuration(chosen), ads(jobs))
    bare = decided(configuration(chosen, enforcing_only=True), ads(jobs))
    assert matched(result) == matched(bare)
    modes = {reason.mode for match in result.matches for reason in match.warnings}
    assert Mode.ENFORCE not in modes


NAMES = ("matlab", "large", "large.special")
LICENCES = st.tuples(*(st.integers(0, 3) for _ in NAMES)), st.tuples(*(_MODES for _ in NAMES))
LISTS = st.lists(st.sampled_from(["matlab", "matlab:2", "large.x", "large.special", "large, matlab"]), min_size=2, max_size=7)  # fmt: skip


@FEW
@given(*LICENCES, LISTS)
def test_the_matches_are_those_of_the_concurrency_limits_that_enforce(most, modes, lists):
    jobs = [app(number, 0, ConcurrencyLimits=f'"{text}"') for number, text in enumerate(lists, 1)]
    limits, kinds = dict(zip(NAMES, most, strict=True)), dict(zip(NAMES, modes, strict=True))
    # Without its limit, large.special has that of large: a limit that refuses nothing is as none.
    bare = {name: limit if kinds[name] is Mode.ENFORCE else 99 for name, limit in limits.items()}
    texts = {name: str(mode) for name, mode in kinds.items()}
    result, without = (
        decided("", jobs, f"{POOL}concurrency_limits: {json.dumps(each)}\n{more}")
        for each, more in ((limits, f"concurrency_limit_modes: {json.dumps(texts)}\n"), (bare, ""))
    )
    assert matched(result) == matched(without)


#: What a rule may limit: shared and separate counters, hosts, formulas, values that are not consumed, another complex.
RULES = (
    "users {{*}} to slots={0}",
    "users {{*}} hosts {{*}} to slots={0}",
    "hosts {{*}} to slots=$num_proc*0.{0}",
    "hosts h1 to slots={0}",
    "projects {{*}} to lic={0}",
    "users * to arch=lx*",
    "users ann to h_rt={0}",
    "hosts h2 to NONE",
)
SETS = st.lists(
    st.tuples(st.lists(st.sampled_from(RULES), min_size=1, max_size=3), st.integers(0, 4), _MODES, st.booleans()),
    min_size=1,
    max_size=4,
)  # fmt: skip
OFFERED = st.sampled_from(["", "hosts: {h1: {complex_values: {lic: 1}}}", "complex_values: {lic: 2}"])
REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob"]),
        st.sampled_from(["1", "2", "undefined"]),
        st.sampled_from(["undefined", "1", "1", "-1"]),
        st.sampled_from(["undefined", '"lx24"', '"sol"']),
        st.sampled_from(["undefined", "undefined", '"0:0:2"', '"x"']),
        st.sampled_from([None, None, 0, 4]),
    ),
    min_size=2,
    max_size=7,
)
COMPLEX = 'complexes: [{name: lic, shortcut: l, type: INT, relop: <=, consumable: "YES"}]\n'
HOSTS = [
    slot(number, Machine=f'"h{number % 3}"', TotalCpus="4", arch='"lx24"' if number % 2 else None, lic="1" if number > 6 else None)
    for number in range(9)
]  # fmt: skip


def rule_sets(sets):
    """Return a file of sets; two rules of one set are tried in their order."""
    return "\n".join(
        "{\n"
        f"   name s{number}\n   enabled {'TRUE' if enabled else 'FALSE'}\n"
        + "".join(f"   limit {rule.format(limit)}\n" for rule in rules)
        + "}"
        for number, (rules, limit, _, enabled) in sets
    )


@FEW
@given(SETS, OFFERED, REQUESTS)
def test_the_matches_are_those_of_the_quota_sets_that_enforce(sets, offered, requests):
    """Also what only a set that does not enforce would read of jobs and hosts decides nothing."""
    jobs = [
        app(
            *(number, 0, user),
            RequestCpus=cpus,
            Requestlic=lic,
            Requestarch=arch,
            Requesth_rt=time,
            JobStatus="1" if host is None else "2",
            RemoteHost=None if host is None else f'"s{host}@h"',
        )
        for number, (user, cpus, lic, arch, time, host) in enumerate(requests, 1)
    ]
    numbered = list(enumerate(sets))
    kept = [each for each in numbered if each[1][2] is Mode.ENFORCE or not each[1][3]]
    modes = "".join(f"  s{number}: {mode}\n" for number, (_, _, mode, _) in numbered)
    engine = f"{COMPLEX}{offered}\n"
    result = decided("", jobs, f"{POOL}quota_set_modes:\n{modes}", HOSTS, a_rqs=rule_sets(numbered), gridengine_yaml=engine)  # fmt: skip
    bare = decided("", jobs, POOL, HOSTS, a_rqs=rule_sets(kept), gridengine_yaml=engine)
    assert matched(result) == matched(bare)
    modes = {reason.mode for match in result.matches for reason in match.warnings}
    assert Mode.ENFORCE not in modes
