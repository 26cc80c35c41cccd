"""The job attributes that a bundle reads anywhere: a schedd must not offer jobs that differ in them as one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from negotiator.bundle.model import Bundle
from negotiator.classad import Expr, references
from negotiator.hooks import specs
from negotiator.hooks.answers import HookFailure

#: A job of its own: with these attributes no two jobs are alike.
EACH_JOB = frozenset({"clusterid", "procid"})


def significant_attributes(
    bundle: Bundle, settings: Mapping[str, Any]
) -> tuple[frozenset[str], tuple[HookFailure, ...]]:
    """Return the attributes, in lower case, that gates, placement, central constraints and policies read of jobs.

    Where a plugin does not say what it reads, the ids of jobs are among them.
    """
    hooks = bundle.hooks
    answers = hooks.ask(specs.negotiator_gate_attributes, settings=settings)
    of_gates = {each.record for each in answers.records}
    known = hooks.plugins_with(specs.negotiator_gate_ads) <= hooks.plugins_with(
        specs.negotiator_gate_attributes
    )
    own = bundle.job_attributes if known else None
    placement = bundle.placement
    trees = [
        *(placement.user.tree, placement.groups.tree, placement.queue.tree, placement.forced.tree),
        *bundle.resources.values(),
        *(constraint.record.expression for constraint in bundle.constraints),
    ]
    tags = bundle.chain.tags if bundle.chain else frozenset[str]()
    read = frozenset[str]().union(*map(_names, trees)) | of_gates | tags
    return read | (EACH_JOB if own is None else own), answers.failures


def _names(tree: Expr) -> frozenset[str]:
    found = references(tree)
    return found.my | found.target | found.unscoped
