"""What a job says of itself by an expression, read without a slot.

Users write job ads: what they say must come to the same wherever the job runs, or a job could ask a slot for more than
the limits were asked for.
"""

from __future__ import annotations

from collections.abc import Collection

from negotiator.classad.context import Environment, Value
from negotiator.classad.scalar.ad import ClassAd
from negotiator.classad.scalar.evaluation import evaluate
from negotiator.classad.syntax import AdRef, Attr, Expr, Literal, Side, bind, references
from negotiator.classad.values import UNDEFINED

#: What in an expression stands for one of the two ads; an attribute of such a name would hide it.
_SCOPES = ("my", "target")

#: What a job is told of when it runs. condor_submit asks for memory by these before they are there; slots that are free
#: do not have them.
_LATER = frozenset({"memoryusage", "diskusage", "imagesize", "residentsetsize"})


class JobExpression:
    """What a job says: nearly always an attribute that is a constant, which need not be evaluated.

    :param tree: the administrator's expression.
    """

    def __init__(self, tree: Expr) -> None:
        self.tree = tree = bind(tree)  # MY is the job's ad itself, whatever attributes it has
        own = isinstance(tree, Attr) and tree.scope == AdRef(Side.MY)
        read = references(tree)
        #: The attributes that it reads, in lower case.
        self.names = frozenset(name.lower() for name in (*read.my, *read.unscoped))
        self._name = tree.name.lower() if own and isinstance(tree, Attr) and tree.name.isascii() else None

    def by(self, job: ClassAd, env: Environment, elsewhere: Collection[str] = ()) -> Value:
        """The value for one job; UNDEFINED where it does not say.

        :param elsewhere: the attributes that slots have, in lower case.
        :raises ValueError: it depends on the slot, or on an attribute that takes the place of an ad.
        """
        if self._name is not None:
            found = job.folded(self._name)
            if found is None:
                return UNDEFINED
            if isinstance(found, Literal):
                return found.value
        self._check(job, elsewhere)
        return evaluate(self.tree, job, None, env)

    def _check(self, job: ClassAd, elsewhere: Collection[str]) -> None:
        waiting, seen = sorted(self.names), set(self.names)
        while waiting:
            name = waiting.pop()
            said = job.folded(name)
            if said is None or isinstance(said, Literal):
                continue
            for scope in _SCOPES:
                if job.folded(scope) is not None:
                    raise ValueError(f"an attribute of the job is called {scope.upper()}: call it otherwise")
            read = references(said)
            borrowed = (name for name in read.unscoped - _LATER if name in elsewhere)
            missing = (name for name in borrowed if job.folded(name) is None)
            if read.target or read.dynamic or any(missing):
                raise ValueError(f"{name} depends on the slot: write a value")
            fresh = (read.my | read.unscoped) - seen
            seen |= fresh
            waiting += sorted(fresh)
