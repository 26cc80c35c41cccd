"""Words of the reports of cycles."""

from __future__ import annotations

from negotiator.records import CORE, Reason


def number(count: int, noun: str) -> str:
    """Return ``1 job``, ``2 jobs``, ``2 matches``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith(('ch', 'ss')) else 's'}"


def rule(reason: Reason) -> str:
    """Return the rule of a policy with its source; for the core's own reasons, the core."""
    provenance = reason.provenance
    return provenance.plugin if provenance.plugin == CORE else str(provenance)


def sentence(reason: Reason) -> str:
    """Return the verdict and the text of a reason, with the rule of a policy."""
    where = "" if reason.provenance.plugin == CORE else f" ({rule(reason)})"
    return f"{str(reason.verdict).replace('_', ' ').capitalize()}: {reason.text}{where}"
