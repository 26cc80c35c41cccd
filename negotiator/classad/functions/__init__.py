"""The functions of the language, by family. A family registers its functions when it is imported."""

from negotiator.classad.functions import environments as environments
from negotiator.classad.functions import expressions as expressions
from negotiator.classad.functions import lists as lists
from negotiator.classad.functions import numbers as numbers
from negotiator.classad.functions import regex as regex
from negotiator.classad.functions import stringlists as stringlists
from negotiator.classad.functions import strings as strings
from negotiator.classad.functions import times as times
from negotiator.classad.functions import types as types
from negotiator.classad.functions import users as users
from negotiator.classad.functions import versions as versions
from negotiator.classad.functions.calls import function_names as function_names
from negotiator.classad.functions.calls import wrong_calls as wrong_calls
from negotiator.classad.functions.external_references import ExternalReferences as ExternalReferences
from negotiator.classad.functions.patterns import PatternFailure as PatternFailure
from negotiator.classad.functions.patterns import check_pattern as check_pattern
from negotiator.classad.functions.regex import options_of as options_of
from negotiator.classad.functions.registry import FUNCTIONS as FUNCTIONS
from negotiator.classad.functions.registry import LONG_STRING as LONG_STRING
from negotiator.classad.functions.registry import Function as Function
