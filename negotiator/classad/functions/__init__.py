"""The functions of the language, by family. A family registers its functions when it is imported."""

from negotiator.classad.functions import expressions as expressions
from negotiator.classad.functions import formatted_texts as formatted_texts
from negotiator.classad.functions import numbers_and_lists as numbers_and_lists
from negotiator.classad.functions import regex as regex
from negotiator.classad.functions import strings as strings
from negotiator.classad.functions import times as times
from negotiator.classad.functions.expressions import ExternalReferences as ExternalReferences
from negotiator.classad.functions.regex import PatternFailure as PatternFailure
from negotiator.classad.functions.regex import check_pattern as check_pattern
from negotiator.classad.functions.regex import options_of as options_of
from negotiator.classad.functions.registry import FUNCTIONS as FUNCTIONS
from negotiator.classad.functions.registry import LONG_STRING as LONG_STRING
from negotiator.classad.functions.registry import Function as Function
from negotiator.classad.functions.registry import function_names as function_names
from negotiator.classad.functions.registry import wrong_calls as wrong_calls
