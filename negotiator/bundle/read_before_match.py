"""The job attributes that a bundle reads before it matches: a schedd must not offer jobs that differ in them as one request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from negotiator.bundle.model import Bundle
from negotiator.classad import Expr, references
from negotiator.hooks.answers import HookFailure


def read_of_jobs(trees: Iterable[Expr]) -> frozenset[str]:
    """Return the attributes, in lower case, that expressions over a job alone read."""
    found = map(references, trees)
    return frozenset(name.lower() for each in found for name in (*each.my, *each.unscoped))


def read_before_match(
    bundle: Bundle, settings: Mapping[str, Any]
) -> tuple[frozenset[str] | None, tuple[HookFailure, ...]]:
    """Return the attributes, in lower case, that gates and placement read; None if a plugin with gates does not declare its own."""
    gates, failures = bundle.hooks.gate_attributes(settings)
    if gates is None:
        return None, failures
    placement = bundle.placement
    read = read_of_jobs(
        (placement.user.tree, placement.groups.tree, placement.queue.tree, placement.forced.tree)
    )
    tags = bundle.chain.tags if bundle.chain else frozenset[str]()
    return gates | read | tags, failures
