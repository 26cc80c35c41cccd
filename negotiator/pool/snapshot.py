"""The pool at one moment: all its ads, as tables."""

from __future__ import annotations

import attrs

from negotiator.classad import Table
from negotiator.records import Problem


@attrs.frozen
class Snapshot:
    """The ads of a pool, one table for each kind, without their secrets (claim ids, capabilities).

    ``private`` and ``other`` count ads that take no part: private ads, and ads of kinds that the negotiator does not
    use (master, collector, accounting, ...). ``problems`` lists every ad that was set aside, and why.
    """

    schedds: Table
    submitters: Table
    slots: Table
    jobs: Table
    private: int = 0
    other: int = 0
    problems: tuple[Problem, ...] = ()
