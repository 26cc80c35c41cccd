"""The attributes of jobs that slots read: a schedd must not offer jobs that differ in them as one request.

Source: HTCondor manual, "Significant Attributes" (``Matchmaker::obtainAdsFromCollector``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from negotiator.plugin import NegotiatorError, parse, references

_EXPRESSIONS: Final = re.compile(
    r"^(?:Requirements|Rank|Start|WithinResourceLimits|ConsumptionCpus|ConsumptionMemory|ConsumptionDisk) = (.+)$",
    re.MULTILINE | re.IGNORECASE,
)
_ALWAYS: Final = frozenset({"jobuniverse", "requestcpus", "requestdisk", "requestmemory"})


def read_by_slots(blocks: Iterable[str]) -> frozenset[str]:
    """Return the attributes, in lower case, that the expressions of slots read of a job.

    :param blocks: the ads of slots in long form. Those that do not parse are set aside later.
    """
    found = set(_ALWAYS)
    for text in frozenset[str]().union(*(_EXPRESSIONS.findall(block) for block in blocks)):
        try:
            read = references(parse(text))
        except NegotiatorError:
            continue
        found |= read.target | read.unscoped
    return frozenset(found)
