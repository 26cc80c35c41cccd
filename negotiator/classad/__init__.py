"""The ClassAd language: the names that the rest of the program may use.

Text becomes a tree with ``parse`` (new syntax) or ``parse_old`` (right of the ``=`` of a long-form line); a tree is
evaluated for one ad or a pair with ``evaluate``, and for a whole table of ads at once with ``evaluate_table``, with
the same values. See ``values`` for the kinds of values.

``from negotiator import classad as classad2`` runs scripts that were written for HTCondor's ``classad2``: ``ClassAd``,
``ExprTree``, ``parseAds`` and so on are the mutable interface of ``bindings``. ``from negotiator.classad import *`` imports these names and no
others, as with ``classad2``. A name is imported when it is used first: what works on tables needs NumPy, and most expressions are parsed only.
"""

from typing import TYPE_CHECKING

from negotiator.lazy_names import lazy_names

if TYPE_CHECKING:
    from negotiator.classad.bindings import ClassAd as ClassAd
    from negotiator.classad.bindings import ClassAdException as ClassAdException
    from negotiator.classad.bindings import ClassAdValueError as ClassAdValueError
    from negotiator.classad.bindings import ExprTree as ExprTree
    from negotiator.classad.bindings import Parser as Parser
    from negotiator.classad.bindings import ParserType as ParserType
    from negotiator.classad.bindings import Value as Value
    from negotiator.classad.bindings import lastError as lastError
    from negotiator.classad.bindings import parseAds as parseAds
    from negotiator.classad.bindings import parseNext as parseNext
    from negotiator.classad.bindings import parseOne as parseOne
    from negotiator.classad.bindings import quote as quote
    from negotiator.classad.bindings import unquote as unquote
    from negotiator.classad.bindings import version as version
    from negotiator.classad.columnar import Table as Table
    from negotiator.classad.columnar import evaluate_table as evaluate_table
    from negotiator.classad.context import Allowance as Allowance
    from negotiator.classad.context import ClassAdValue as ClassAdValue
    from negotiator.classad.context import Environment as Environment
    from negotiator.classad.context import Payers as Payers
    from negotiator.classad.context import unparse_value as unparse_value
    from negotiator.classad.functions import function_names as function_names
    from negotiator.classad.functions import wrong_calls as wrong_calls
    from negotiator.classad.scalar import Ad as Ad
    from negotiator.classad.scalar import JobExpression as JobExpression
    from negotiator.classad.scalar import evaluate as evaluate
    from negotiator.classad.scalar import is_true as is_true
    from negotiator.classad.scalar import parse_ad as parse_ad
    from negotiator.classad.syntax import ClassAdError as ClassAdError
    from negotiator.classad.syntax import Expr as Expr
    from negotiator.classad.syntax import LiteralValue as LiteralValue
    from negotiator.classad.syntax import ParseError as ParseError
    from negotiator.classad.syntax import References as References
    from negotiator.classad.syntax import Side as Side
    from negotiator.classad.syntax import bind as bind
    from negotiator.classad.syntax import conjuncts as conjuncts
    from negotiator.classad.syntax import parse as parse
    from negotiator.classad.syntax import parse_old as parse_old
    from negotiator.classad.syntax import references as references
    from negotiator.classad.syntax import unparse as unparse
    from negotiator.classad.syntax import unparse_old as unparse_old
    from negotiator.classad.tables import AttributeValues as AttributeValues
    from negotiator.classad.tables import Column as Column
    from negotiator.classad.tables import IntegerValues as IntegerValues
    from negotiator.classad.values import ERROR as ERROR
    from negotiator.classad.values import UNDEFINED as UNDEFINED
    from negotiator.classad.values import Kind as Kind

#: The names of ``classad2``.
__all__ = [
    "ClassAd",
    "ClassAdException",
    "ExprTree",
    "Parser",
    "ParserType",
    "Value",
    "lastError",
    "parseAds",
    "parseNext",
    "parseOne",
    "quote",
    "unquote",
    "version",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator.classad.bindings": f"{' '.join(__all__)} ClassAdValueError",
            "negotiator.classad.columnar": "Table evaluate_table",
            "negotiator.classad.context": "Allowance Environment Payers ClassAdValue unparse_value",
            "negotiator.classad.functions": "function_names wrong_calls",
            "negotiator.classad.scalar": "Ad JobExpression evaluate is_true parse_ad",
            "negotiator.classad.syntax": (
                "ClassAdError Expr LiteralValue ParseError References Side bind conjuncts parse "
                "parse_old references unparse unparse_old"
            ),
            "negotiator.classad.tables": "AttributeValues Column IntegerValues",
            "negotiator.classad.values": "ERROR Kind UNDEFINED",
        },
    )
