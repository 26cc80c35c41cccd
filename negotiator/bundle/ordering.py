"""The key ``order:`` of ``pool.yaml``: which plugin decides whose turn it is."""

from __future__ import annotations

from typing import Final

from negotiator.bundle.nodes import MapNode
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.hooks import specs
from negotiator.hooks.answers import Attributed
from negotiator.hooks.manager import HookManager
from negotiator.hooks.order import RequestOrderType
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable, suggest

KEY: Final = "order"
#: The order that no plugin brings: submitters by name.
NAMES: Final = "names"


def read_ordering(
    top: MapNode, hooks: HookManager
) -> tuple[Attributed[RequestOrderType] | None, tuple[Problem, ...]]:
    """Return the way to order requests that a bundle chose; None for the order by names."""
    answers = hooks.ask(specs.negotiator_orders)
    origins = {plugin.name: plugin.origin for plugin in hooks.plugins}
    problems = [
        Problem(Severity.ERROR, Source(origins.get(failure.plugin, failure.plugin)), str(failure))
        for failure in answers.failures
    ]
    found: dict[str, Attributed[RequestOrderType]] = {}
    for each in answers.records:
        name = each.record.name
        if name == NAMES or name in found:
            owner = f"plugin {found[name].plugin}" if name in found else "the core"
            message = f"the order {name} of plugin {each.plugin} already belongs to {owner}"
            source = Source(origins.get(each.plugin, each.plugin))
            problems.append(Problem(Severity.ERROR, source, message, "disable one of the two plugins"))
        else:
            found[name] = each
    if KEY not in top.entries:
        return None, tuple(problems)
    entry = top.entries[KEY]
    builder = ObjectBuilder(lambda _: ("files are not supported here", ""))
    wanted = builder.value(entry.value, str)
    problems += builder.problems
    if wanted is not INVALID and wanted != NAMES and wanted not in found:
        message = f"unknown order {printable(str(wanted))}: known are {', '.join(sorted({NAMES, *found}))}"
        problems.append(top.file.error(entry.at, message, suggest(str(wanted), {NAMES, *found})))
    return found.get(str(wanted)), tuple(problems)
