"""The ClassAd language: what the rest of the program may use of it.

Text becomes a tree with ``parse`` (new syntax) or ``parse_old`` (right of the ``=`` of a long-form line); a tree is
evaluated for one ad or a pair with ``evaluate``, and for a whole table of ads at once with ``evaluate_table``, with
the same values. See ``values`` for what a value is.
"""

from negotiator.classad.columnar.evaluate_table import evaluate_table as evaluate_table
from negotiator.classad.functions.calls import function_names as function_names
from negotiator.classad.functions.calls import wrong_calls as wrong_calls
from negotiator.classad.scalar.ad import ClassAd as ClassAd
from negotiator.classad.scalar.evaluate import Environment as Environment
from negotiator.classad.scalar.evaluate import evaluate as evaluate
from negotiator.classad.scalar.evaluate import is_true as is_true
from negotiator.classad.scalar.job_expressions import JobExpression as JobExpression
from negotiator.classad.syntax.analysis import References as References
from negotiator.classad.syntax.analysis import bind as bind
from negotiator.classad.syntax.analysis import conjuncts as conjuncts
from negotiator.classad.syntax.analysis import references as references
from negotiator.classad.syntax.errors import ClassAdError as ClassAdError
from negotiator.classad.syntax.errors import ParseError as ParseError
from negotiator.classad.syntax.parser import parse as parse
from negotiator.classad.syntax.parser import parse_ad as parse_ad
from negotiator.classad.syntax.parser import parse_old as parse_old
from negotiator.classad.syntax.printing import unparse as unparse
from negotiator.classad.syntax.printing import unparse_value as unparse_value
from negotiator.classad.syntax.tree import Expr as Expr
from negotiator.classad.syntax.tree import Side as Side
from negotiator.classad.tables.table import Column as Column
from negotiator.classad.tables.table import Table as Table
from negotiator.classad.values.kinds import ERROR as ERROR
from negotiator.classad.values.kinds import UNDEFINED as UNDEFINED
from negotiator.classad.values.kinds import Kind as Kind
from negotiator.classad.values.kinds import Value as Value
