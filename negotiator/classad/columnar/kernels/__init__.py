"""The operators on columns: SEMANTICS section 3 for all rows at once, without Python code for each row.

A kernel takes columns of the same size and pool and returns such a column. Cells must not be absent or unevaluated. Cells
with lists, ads and times are allowed for ``&& || !``, ``? :`` and ``?:`` only; for other operators the scalar evaluator
handles them.
"""

from negotiator.classad.columnar.kernels.arithmetic import arithmetic as arithmetic
from negotiator.classad.columnar.kernels.arithmetic import negate as negate
from negotiator.classad.columnar.kernels.compare import compare as compare
from negotiator.classad.columnar.kernels.compare import identical as identical
from negotiator.classad.columnar.kernels.kinds import has_kind as has_kind
from negotiator.classad.columnar.kernels.logic import conditional as conditional
from negotiator.classad.columnar.kernels.logic import conjunction as conjunction
from negotiator.classad.columnar.kernels.logic import disjunction as disjunction
from negotiator.classad.columnar.kernels.logic import elvis as elvis
from negotiator.classad.columnar.kernels.logic import negation as negation
