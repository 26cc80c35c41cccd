"""Expressions of the administrator on the job ad, such as the resources a job requests, evaluated without a slot.

Users write job ads. The value must not depend on the slot, or a job could request more on a slot than was charged to
its limits.
"""

from __future__ import annotations

from collections.abc import Collection

from negotiator.classad.context import ClassAdValue, Environment
from negotiator.classad.scalar.ad import Ad
from negotiator.classad.scalar.evaluation import evaluate
from negotiator.classad.syntax import AdRef, Attr, Expr, Literal, Side, bind, references
from negotiator.classad.values import UNDEFINED

#: The names of the two ads. An attribute with such a name would hide the ad.
_SCOPES = ("my", "target")

#: Attributes a job gets only when it runs. The requests that condor_submit writes refer to them; free slots lack them.
_LATER = frozenset({"memoryusage", "diskusage", "imagesize", "residentsetsize"})


class JobExpression:
    """An expression on the job ad.

    :param tree: the administrator's expression. Usually it is an attribute, and the attribute a constant; then nothing
        is evaluated.
    """

    def __init__(self, tree: Expr) -> None:
        self.tree = tree = bind(tree)  # MY is the job's ad itself, also if it has an attribute MY
        of_job = isinstance(tree, Attr) and tree.scope == AdRef(Side.MY)
        read = references(tree)
        #: The attributes it refers to, in lower case.
        self.names = frozenset(name.lower() for name in (*read.my, *read.unscoped))
        self._name = tree.name.lower() if of_job and isinstance(tree, Attr) and tree.name.isascii() else None

    def value(self, job: Ad, env: Environment, slot_attributes: Collection[str] = ()) -> ClassAdValue:
        """Return the value for one job; UNDEFINED if the job lacks the attribute.

        :param slot_attributes: the attributes that slots have, in lower case.
        :raises ValueError: the value depends on the slot, or on an attribute that hides an ad.
        """
        if self._name is not None:
            found = job.folded(self._name)
            if found is None:
                return UNDEFINED
            if isinstance(found, Literal):
                return found.value
        self._check(job, slot_attributes)
        return evaluate(self.tree, job, None, env)

    def _check(self, job: Ad, slot_attributes: Collection[str]) -> None:
        waiting, seen = sorted(self.names), set(self.names)
        while waiting:
            name = waiting.pop()
            expression = job.folded(name)
            if expression is None or isinstance(expression, Literal):
                continue
            for scope in _SCOPES:
                if job.folded(scope) is not None:
                    raise ValueError(f"the job has an attribute called {scope.upper()}: rename it")
            read = references(expression)
            shared_names = (name for name in read.unscoped - _LATER if name in slot_attributes)
            missing = (name for name in shared_names if job.folded(name) is None)
            if read.target or read.dynamic or any(missing):
                raise ValueError(f"{name} depends on the slot: write a value")
            fresh = (read.my | read.unscoped) - seen
            seen |= fresh
            waiting += sorted(fresh)
