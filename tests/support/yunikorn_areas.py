"""The program's answers to a conformance case of queues, area by area, beside the expected ones."""

import attrs

from golden import UnreadableError
from negotiator.placement.chain import FATAL, walk
from negotiator.placement.filters import make_filter
from negotiator.queues import Acl
from negotiator.queues.acl import AclError
from negotiator.queues.checks.findings import Findings
from negotiator.queues.config import FilterEntry
from negotiator.queues.quantities import QuantityError, parse_quantity
from negotiator.records import ScalarText
from yunikorn_pool import NOW, Pool, application, read
from yunikorn_words import ALIKE, CODES


@attrs.frozen
class Finding:
    """An answer and the expected one; ``loose`` if both refuse, and the program has no code for YuniKorn's word."""

    got: object
    expected: object
    what: str = ""
    loose: bool = False


def finding(got, expected, codes=(), what=""):
    """Compare the expected keys; ``codes`` are the possible values of ``error``."""
    if not isinstance(got, dict) or not isinstance(expected, dict):
        return Finding(got, expected, what)
    strange = [code for code in codes if code not in CODES]
    if strange:
        return Finding(strange, "a word that this runner knows", what)
    error = expected.get("error")
    loose = bool(error) and bool(codes) and error not in CODES
    if codes:
        same = loose or error in codes or ALIKE.get(error) in codes
        got = {**got, "error": error if same else ", ".join(sorted(codes))}
    unknown = expected.keys() - got.keys() - {"stage", "error"}
    if unknown and not codes:
        raise UnreadableError(
            f"{what}what is expected has {sorted(unknown)}, which this runner does not know"
        )
    keys = [key for key in expected if key != "stage"] + [key for key in ("error",) if codes and not error]
    return Finding({key: got.get(key) for key in keys}, {key: expected.get(key) for key in keys}, what, loose)


def placement(case):
    """Place one application by the first rule alone, by all rules, or up to the creation of its queue."""
    level, expected = case.get("level"), case["expect"]
    if level not in _LEVELS:
        raise UnreadableError(f"'level' is to be one of {', '.join(_LEVELS)}, not {level!r}")
    reading = read(case["config"], static=level == "partition")
    if reading.codes:
        yield finding({"outcome": "config_error"}, expected, reading.codes)
        return
    pool = Pool.of(reading)
    pool.drain(case.get("state"))
    got, codes = _LEVELS[level](pool, case["application"])
    yield finding(_folded(got, expected) if level != "rule" else got, expected, codes)


def _by_rule(pool, content):
    proposal = pool.chain.rules[0].propose(application(content, pool.chain))
    path, code, _ = walk(proposal, pool.queues.view)
    if code in FATAL:
        return {"outcome": "error"}, {code}
    return ({"outcome": "no_match"} if code else {"outcome": "match", "queue": path}), ()


def _by_manager(pool, content):
    return _placed(pool.decide(content))


def _by_partition(pool, content):
    return _placed(pool.place(content))


_LEVELS = {"rule": _by_rule, "manager": _by_manager, "partition": _by_partition}


def _placed(placement):
    if placement.placed:
        return {"outcome": "placed", "queue": placement.queue}, ()
    return {"outcome": "rejected"}, {placement.code}


def _folded(got, expected):
    """Use the expected spelling of a queue that differs in case only: ours are in lower case."""
    queue = expected.get("queue", "")
    return {**got, "queue": queue} if queue and got.get("queue") == queue.lower() else got


def filters(case):
    """Check whether a filter is valid, and whether its rule applies to a user."""
    given, question = case["filter"], case["input"]
    rule = {"name": "provided"} if given is None else {"name": "provided", "filter": given}
    reading = read({"queues": [{"name": "root"}], "placementrules": [rule]})
    if reading.chain is None:
        made = make_filter(given and _filter_entry(given), Findings())
    else:
        made = reading.chain.rules[0].filter
    applies = made.applies(question["user"], tuple(question.get("groups") or ()))
    yield finding({"config_valid": not reading.codes, "applies": applies}, case["expect"], reading.codes)


def _filter_entry(content):
    lists = {
        key: None if content.get(key) is None else tuple(ScalarText(str(each)) for each in content[key])
        for key in ("users", "groups")
    }
    return FilterEntry(type=ScalarText(str(content["type"])) if content.get("type") else None, **lists)


def acl(case):
    """Check the answers of an access control list, alone or among those of queues."""
    level, question, expected = case.get("level"), case["input"], case["expect"]
    if level == "acl":
        try:
            access = Acl.parse(str(question["acl"])).allows(question["user"], question.get("groups") or ())
        except AclError:
            yield finding({"access": None}, expected, {"acl_syntax"})
        else:
            yield finding({"access": bool(access)}, expected)
    elif level == "queue":
        reading = read(case["config"])
        got = {} if reading.codes else Pool.of(reading).access(question)
        yield finding(got, expected, reading.codes)
    else:
        raise UnreadableError(f"'level' is to be acl or queue, not {level!r}")


def resource(case):
    """Check the amount of a text."""
    question = case["input"]
    try:
        yield finding({"quantity": parse_quantity(question["type"], str(question["value"]))}, case["expect"])
    except QuantityError as error:
        yield finding({"quantity": None}, case["expect"], {error.code})


def config(case):
    """Check whether a configuration is valid, and its queues."""
    reading, expected = read(case["config"]), dict(case["expect"])
    normalised = expected.pop("normalised", {})
    yield finding({"valid": not reading.codes}, expected, reading.codes)
    found = {queue.path: queue for queue in reading.partition.root.walk()}
    for path, wanted in normalised.items():
        queue = found.get(path)
        got = "no such queue" if queue is None else {"parent": not queue.leaf, "limits": len(queue.limits)}
        yield finding(got, wanted, what=f"{path}: ")


def lifecycle(case):
    """Run step after step on one partition."""
    reading = read(case["config"])
    if reading.codes:
        yield Finding(sorted(reading.codes), "a configuration that can be read", "config: ")
        return
    pool = Pool.of(reading)
    for number, step in enumerate(case["steps"], 1):
        what = f"step {number}, {step.get('op')} {step.get('app') or step.get('queue') or ''}: "
        if step.get("op") not in _STEPS:
            raise UnreadableError(f"{what}the steps of this runner are {', '.join(_STEPS)}")
        got, codes = _STEPS[step["op"]](pool, step)
        expected = step.get("expect", got)
        if expected == "ok" and codes:
            got = ", ".join(sorted(codes))
        yield finding(got, expected, codes, what)


def _submit(pool, step):
    placement = pool.place(step)
    if placement.placed:
        pool.running[step["app"]] = placement.queue
    got, codes = _placed(placement)
    return _folded(got, step.get("expect", {})), codes


def _complete(pool, step):
    if pool.running.pop(step["app"], None) is None:
        raise UnreadableError(f"application {step['app']} does not run")
    return None, ()


def _cleanup(pool, _step):
    pool.queues.clean(frozenset(pool.running.values()), NOW)
    return None, ()


def _reload(pool, step):
    """Reload the configuration; an invalid one changes nothing."""
    reading = read(step["config"])
    if reading.codes:
        return {}, reading.codes
    pool.chain = reading.chain
    pool.queues.apply(reading.partition.root, NOW)
    return "ok", ()


def _queue(pool, step):
    queue = pool.queues.view.get(step["queue"])
    if queue is None:
        return "absent", ()
    return {"leaf": queue.leaf, "managed": queue.managed, "state": queue.state.value}, ()


def _access(pool, step):
    return pool.access(step), ()


_STEPS = {
    "submit": _submit,
    "complete": _complete,
    "cleanup": _cleanup,
    "reload": _reload,
    "queue": _queue,
    "access": _access,
}

AREAS = {
    "placement": placement,
    "filter": filters,
    "acl": acl,
    "resource": resource,
    "config": config,
    "lifecycle": lifecycle,
}
"""The runner of each area: it yields the actual and the expected answers."""
