"""The modes of maxima and limits of queues: properties of ``queues.yaml``, their inheritance and their checks."""

import pytest

from negotiator.queues import QueueTree
from negotiator.queues.modes import LIMITS_MODE, MAXIMA_MODE, configured_modes
from negotiator.records import Mode, Severity
from yunikorn_pool import read


def partition(*queues, root=None):
    """Return a configuration with these queues below the root."""
    return {"queues": [{"name": "root", "properties": root or {}, "queues": list(queues)}]}


def queue(name, mode=None, key=MAXIMA_MODE, **more):
    return {"name": name, "properties": {key: mode} if mode else {}, **more}


def tree(*queues, root=None):
    return QueueTree.of(read(partition(*queues, root=root)).partition.root, 0)


def errors(configuration):
    return [each for each in read(configuration).problems if each.severity is Severity.ERROR]


@pytest.mark.parametrize("mode", Mode)
def test_a_queue_has_its_own_mode_or_that_of_the_queue_above(mode):
    found = tree(queue("a", str(mode), queues=[queue("x"), queue("z", "enforce")]), queue("b"))
    modes = [found.mode(path, MAXIMA_MODE) for path in ("root.a", "root.a.x", "root.a.z", "root.b", "root")]
    assert modes == [mode, mode, Mode.ENFORCE, Mode.ENFORCE, Mode.ENFORCE]


def test_the_modes_of_maxima_and_of_limits_are_separate():
    root = read(partition(queue("a", "warn", LIMITS_MODE), root={MAXIMA_MODE: "dryrun"})).partition.root
    assert configured_modes(root, LIMITS_MODE) == {"root": Mode.ENFORCE, "root.a": Mode.WARN}
    assert configured_modes(root, MAXIMA_MODE) == {"root": Mode.DRYRUN, "root.a": Mode.DRYRUN}


@pytest.mark.parametrize(("template", "mode"), [({}, "warn"), ({MAXIMA_MODE: "dryrun"}, "dryrun")])
def test_a_queue_that_a_rule_makes_has_the_mode_of_its_template_else_of_the_queue_above(template, mode):
    queues = tree(queue("a", "warn", parent=True, childtemplate={"properties": template})).mutable()
    queues.create("root.a.new", 0)
    assert str(queues.view.mode("root.a.new", MAXIMA_MODE)) == mode


@pytest.mark.parametrize(
    ("properties", "message", "hint"),
    [
        ({MAXIMA_MODE: "Warn"}, "negotiator.max.mode must be enforce, warn, dryrun, not 'Warn'", "did you mean warn?"),
        ({LIMITS_MODE: ""}, "negotiator.limits.mode must be enforce, warn, dryrun, not ''", ""),
        ({"negotiator.limit.mode": "warn"}, "unknown property negotiator.limit.mode", "did you mean negotiator.limits.mode?"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["root.a", "childtemplate of root.a"])
def test_unknown_modes_and_properties_are_refused_with_line_and_hint(properties, message, hint, place):
    own = {"properties": properties}
    changed = own if place == "root.a" else {"childtemplate": own}
    (problem,) = errors(partition({"name": "a", "parent": True, **changed}))
    assert (problem.message, problem.hint) == (f"{place}: {message}", hint)
    assert problem.source.line > 1


def test_no_notice_calls_a_mode_a_property_without_effect():
    found = read(partition(queue("a", "warn")))
    assert not [each for each in found.partition.order_keys if each.key.startswith("negotiator")]
