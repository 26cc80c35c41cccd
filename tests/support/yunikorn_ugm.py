"""Run the conformance cases of users and groups, step by step."""

from golden import UnreadableError
from yunikorn_areas import Finding
from yunikorn_pool import read
from yunikorn_replay import FlawedReplay, Replay

_QUEUE_KEYS = {
    "queuePath": "queue",
    "resourceUsage": "usage",
    "runningApplications": "apps",
    "maxResources": "max_resources",
    "maxApplications": "max_apps",
    "children": "children",
}


def ugm(case):
    """Yield the findings of each step on one partition.

    Where a case records a flaw of YuniKorn's code that is not followed otherwise (``follow: code``), the flaw is replayed.
    """
    reading = read(case["config"])
    if reading.codes:
        yield Finding(sorted(reading.codes), "a configuration that can be read", "config: ")
        return
    replay = (FlawedReplay if case["follow"] == "code" else Replay)(reading.partition.root)
    for number, step in enumerate(case["steps"], 1):
        names = [step.get(key) for key in ("user", "group", "app") if step.get(key)]
        what = f"step {number}, {' '.join([str(step.get('op')), *map(str, names)])}: "
        if step.get("op") not in _STEPS:
            raise UnreadableError(f"{what}the steps of this runner are {', '.join(_STEPS)}")
        got = _STEPS[step["op"]](replay, step)
        expected = _folded(step["expect"]) if "expect" in step else None
        yield Finding(got, expected, what)


def _folded(expected):
    """Fold the case of queues, and sort names."""
    if not isinstance(expected, dict):
        return expected
    lists = {key: sorted(expected[key]) for key in ("apps", "users", "groups") if key in expected}
    queue = {"queue": expected["queue"].lower()} if "queue" in expected else {}
    children = sorted(map(_folded, expected.get("children", ())), key=lambda child: child["queue"])
    return expected | queue | lists | ({"children": children} if children else {})


def _subject(step):
    return (
        step.get("user") or "",
        tuple(step.get("groups") or ()),
        (step.get("queue") or "").lower(),
        step.get("app") or "",
    )


def _config(replay, step):
    """Reload the configuration; an invalid one changes nothing."""
    reading = read(step["config"])
    if reading.codes:
        return f"refused: {', '.join(sorted(reading.codes))}"
    replay.configure(reading.partition.root)
    return None


def _increase(replay, step):
    replay.increase(*_subject(step), step["usage"])


def _decrease(replay, step):
    user, _, queue, app = _subject(step)
    if user and queue and app:
        replay.decrease(user, queue, app, step["usage"], remove_app=step.get("remove_app", False))


def _headroom(replay, step):
    left = replay.headroom(*_subject(step))
    return "unlimited" if left is None else left


def _usage(node):
    if node is None:
        return "absent"
    children = {"children": [_usage(child) for child in node["children"]]} if "children" in node else {}
    return {_QUEUE_KEYS[key]: value for key, value in node.items()} | children


_STEPS = {
    "config": _config,
    "increase": _increase,
    "try_increase": lambda replay, step: replay.try_increase(*_subject(step), step["usage"]),
    "decrease": _decrease,
    "headroom": _headroom,
    "fits": lambda replay, step: replay.fits(*_subject(step), step["usage"]),
    "can_run": lambda replay, step: replay.can_run(*_subject(step)),
    "resolve_group": lambda replay, step: replay.resolve_group(
        step.get("groups") or (), step["queue"].lower()
    ),
    "app_group": lambda replay, step: replay.app_group(step["user"], step["app"]),
    "user_usage": lambda replay, step: _usage(replay.tree("users", step["user"])),
    "group_usage": lambda replay, step: _usage(replay.tree("groups", step["group"])),
    "trackers": lambda replay, _: {"users": replay.names("users"), "groups": replay.names("groups")},
}
