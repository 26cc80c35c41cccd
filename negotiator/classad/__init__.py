"""The ClassAd language: what the rest of the program may use of it.

Text becomes a tree with ``parse`` (new syntax) or ``parse_old`` (right of the ``=`` of a long-form line); a tree is
evaluated for one ad or a pair with ``evaluate``, and for a whole table of ads at once with ``evaluate_table``, with
the same values. See ``values`` for what a value is.
"""

from negotiator.classad.ad import ClassAd as ClassAd
from negotiator.classad.analysis import References as References
from negotiator.classad.analysis import bind as bind
from negotiator.classad.analysis import conjuncts as conjuncts
from negotiator.classad.analysis import references as references
from negotiator.classad.calls import function_names as function_names
from negotiator.classad.calls import wrong_calls as wrong_calls
from negotiator.classad.columnar import evaluate_table as evaluate_table
from negotiator.classad.errors import ClassAdError as ClassAdError
from negotiator.classad.errors import ParseError as ParseError
from negotiator.classad.evaluate import Environment as Environment
from negotiator.classad.evaluate import evaluate as evaluate
from negotiator.classad.evaluate import is_true as is_true
from negotiator.classad.parser import parse as parse
from negotiator.classad.parser import parse_ad as parse_ad
from negotiator.classad.parser import parse_old as parse_old
from negotiator.classad.said import Said as Said
from negotiator.classad.table import Column as Column
from negotiator.classad.table import Table as Table
from negotiator.classad.tree import Expr as Expr
from negotiator.classad.tree import Side as Side
from negotiator.classad.unparse import unparse as unparse
from negotiator.classad.unparse import unparse_value as unparse_value
from negotiator.classad.values import ERROR as ERROR
from negotiator.classad.values import UNDEFINED as UNDEFINED
from negotiator.classad.values import Kind as Kind
from negotiator.classad.values import Value as Value
