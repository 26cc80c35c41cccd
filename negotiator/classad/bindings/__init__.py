"""ClassAds for Python users, with the names and the behaviour of HTCondor's ``classad2``.

A name is imported when it is used first: tables need the values only, not the readers of texts.
"""

from typing import TYPE_CHECKING

from negotiator.lazy_names import lazy_names

if TYPE_CHECKING:
    from negotiator.classad.bindings.classad2 import ClassAd as ClassAd
    from negotiator.classad.bindings.classad2 import ExprTree as ExprTree
    from negotiator.classad.bindings.classad2 import current_environment as current_environment
    from negotiator.classad.bindings.classad2 import expression_of as expression_of
    from negotiator.classad.bindings.classad2 import to_python as to_python
    from negotiator.classad.bindings.parsing import parseAds as parseAds
    from negotiator.classad.bindings.parsing import parseNext as parseNext
    from negotiator.classad.bindings.parsing import parseOne as parseOne
    from negotiator.classad.bindings.python_objects import ClassAdException as ClassAdException
    from negotiator.classad.bindings.python_objects import ClassAdValueError as ClassAdValueError
    from negotiator.classad.bindings.python_objects import Parser as Parser
    from negotiator.classad.bindings.python_objects import ParserType as ParserType
    from negotiator.classad.bindings.python_objects import Value as Value
    from negotiator.classad.bindings.python_objects import lastError as lastError
    from negotiator.classad.bindings.python_objects import quote as quote
    from negotiator.classad.bindings.python_objects import unquote as unquote
    from negotiator.classad.bindings.python_objects import version as version
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator.classad.bindings.classad2": (
                "ClassAd ExprTree current_environment expression_of to_python"
            ),
            "negotiator.classad.bindings.parsing": "parseAds parseNext parseOne",
            "negotiator.classad.bindings.python_objects": (
                "ClassAdException ClassAdValueError Parser ParserType Value lastError quote unquote version"
            ),
        },
    )
