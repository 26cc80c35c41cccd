"""The reference of all hooks, from their declarations."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from negotiator.hooks.hook import Hook, OnFailure
from negotiator.hooks.manager import HOOKS
from negotiator_docs.markdown import GENERATED, code, table, text

_HEAD = """# Hooks

Every hook of the [plugin contract](../hooks.md), from its declaration. Which plugin a hook is for, with an example to
copy, is in the section of its name there; [the tutorial](../plugin-tutorial.md) writes a plugin from nothing.
"""
_EFFECT = {
    OnFailure.DENY: "denies what the call is about (`plugin_error`)",
    OnFailure.REFUSE_BUNDLE: "the bundle is refused",
    OnFailure.REPORT: "is reported; the program goes on",
}


def hooks_page() -> str:
    """Return the page."""
    contract = Path(__file__).parents[2] / "hooks.md"
    anchors = _anchors(contract.read_text("utf-8"))
    rows = [_row(hook, anchors) for hook in HOOKS.values()]
    return f"{GENERATED}{_HEAD}\n{table(['hook', 'task', 'arguments', 'answer', 'if it fails'], rows)}"


def _row(hook: Hook[..., object], anchors: dict[str, str]) -> tuple[str, ...]:
    documented = inspect.getdoc(hook.function) or ""
    task = " ".join(documented.partition("\n\n")[0].split())
    called = re.search(r"^(Called .*?\.)(\s|$)", documented, re.MULTILINE | re.DOTALL)
    when = f" {' '.join(called[1].split())}" if called else ""
    return (
        f"[{code(hook.name)}](../hooks.md#{anchors[hook.name]})",
        text(task + when),
        ", ".join(map(code, hook.arguments)),
        hook.shape.value,
        _EFFECT[hook.on_failure],
    )


def _anchors(contract: str) -> dict[str, str]:
    """Return the anchor of each hook's section, as forges make them of headings."""
    found = re.findall(r"^### `((negotiator_\w+)\(.*\))`$", contract, re.MULTILINE)
    return {name: re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading, name in found}
