"""The operators on columns: SEMANTICS section 3 for all rows at once, without Python for a row.

A kernel takes columns of one size and pool and returns such a column. Cells that are absent or not yet evaluated are
no operands; those with lists, ads and times are operands of ``&& || !``, ``? :`` and ``?:`` only, the others leave them to
the scalar evaluator.
"""

from negotiator.classad.kernels.arithmetic import arithmetic as arithmetic
from negotiator.classad.kernels.arithmetic import negate as negate
from negotiator.classad.kernels.compare import compare as compare
from negotiator.classad.kernels.compare import identical as identical
from negotiator.classad.kernels.kinds import has_kind as has_kind
from negotiator.classad.kernels.logic import conditional as conditional
from negotiator.classad.kernels.logic import conjunction as conjunction
from negotiator.classad.kernels.logic import disjunction as disjunction
from negotiator.classad.kernels.logic import elvis as elvis
from negotiator.classad.kernels.logic import negation as negation
