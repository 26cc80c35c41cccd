"""What the program makes of the conformance cases of users and groups, step by step."""

from golden import UnreadableError
from negotiator.queues.checks.limits import SubjectKind
from negotiator_limits import Tracking
from yunikorn_areas import Finding
from yunikorn_pool import read
from yunikorn_tracking import YuniKornTracking


def ugm(case):
    """Usage and limits of users and groups: step after step on one partition.

    Where a case is to be answered as the code does and the specification does not (``follow: code``), the usage is
    counted as the code counts it.
    """
    reading = read(case["config"])
    if reading.codes:
        yield Finding(sorted(reading.codes), "a configuration that can be read", "config: ")
        return
    tracking = (YuniKornTracking if case["follow"] == "code" else Tracking)(reading.partition.root)
    for number, step in enumerate(case["steps"], 1):
        names = [step.get(key) for key in ("user", "group", "app") if step.get(key)]
        what = f"step {number}, {' '.join([str(step.get('op')), *map(str, names)])}: "
        if step.get("op") not in _STEPS:
            raise UnreadableError(f"{what}the steps of this runner are {', '.join(_STEPS)}")
        got = _STEPS[step["op"]](tracking, step)
        expected = _folded(step["expect"]) if "expect" in step else None
        yield Finding(got, expected, what)


def _folded(expected):
    """With queues in lower case, as ours are, and names in order."""
    if not isinstance(expected, dict):
        return expected
    lists = {key: sorted(expected[key]) for key in ("apps", "users", "groups") if key in expected}
    queue = {"queue": expected["queue"].lower()} if "queue" in expected else {}
    children = sorted(map(_folded, expected.get("children", ())), key=lambda child: child["queue"])
    return expected | queue | lists | ({"children": children} if children else {})


def _asked(step):
    return (
        step.get("user") or "",
        tuple(step.get("groups") or ()),
        step.get("queue") or "",
        step.get("app") or "",
    )


def _config(tracking, step):
    """A configuration that is none changes nothing."""
    reading = read(step["config"])
    if reading.codes:
        return f"refused: {', '.join(sorted(reading.codes))}"
    tracking.update(reading.partition.root)
    return None


def _increase(tracking, step):
    tracking.increase(*_asked(step), step["usage"])


def _try_increase(tracking, step):
    if not (step.get("user") and step.get("queue") and step.get("app")):
        return False
    return tracking.try_increase(*_asked(step), step["usage"]) is None


def _decrease(tracking, step):
    user, _, queue, app = _asked(step)
    if user and queue and app:
        tracking.decrease(user, queue, app, step["usage"], remove_app=step.get("remove_app", False))


def _headroom(tracking, step):
    left = tracking.headroom(*_asked(step))
    return "unlimited" if left is None else left


def _trackers(tracking, _step):
    return {"users": tracking.trackers(SubjectKind.USER), "groups": tracking.trackers(SubjectKind.GROUP)}


def _usage(node):
    if node is None:
        return "absent"
    told = {
        "queue": node.path,
        "usage": dict(node.resources),
        "apps": list(node.applications),
        "max_resources": dict(node.holding.resources) if node.holding else {},
        "max_apps": node.holding.applications if node.holding else 0,
        "children": [_usage(child) for child in node.children],
    }
    return {key: value for key, value in told.items() if value}


_STEPS = {
    "config": _config,
    "increase": _increase,
    "try_increase": _try_increase,
    "decrease": _decrease,
    "headroom": _headroom,
    "fits": lambda tracking, step: tracking.fits(*_asked(step), step["usage"]),
    "can_run": lambda tracking, step: tracking.can_run(*_asked(step)),
    "resolve_group": lambda tracking, step: tracking.resolve_group(step.get("groups") or (), step["queue"]),
    "app_group": lambda tracking, step: tracking.app_group(step["user"], step["app"]),
    "user_usage": lambda tracking, step: _usage(tracking.user_usage(step["user"])),
    "group_usage": lambda tracking, step: _usage(tracking.group_usage(step["group"])),
    "trackers": _trackers,
}
