"""The language of resource quota sets: parsed with every problem at its place, printed as Grid Engine prints it.

A name is imported when it is used first.
"""

from typing import TYPE_CHECKING

from negotiator.plugin import lazy_names

if TYPE_CHECKING:
    from negotiator_quotasets.language.lexer import quotable as quotable
    from negotiator_quotasets.language.model import GROUP as GROUP
    from negotiator_quotasets.language.model import SCOPES as SCOPES
    from negotiator_quotasets.language.model import NameFilter as NameFilter
    from negotiator_quotasets.language.model import QuotaRule as QuotaRule
    from negotiator_quotasets.language.model import RuleLimit as RuleLimit
    from negotiator_quotasets.language.model import RuleSet as RuleSet
    from negotiator_quotasets.language.model import evaluate_formula as evaluate_formula
    from negotiator_quotasets.language.model import format_rule as format_rule
    from negotiator_quotasets.language.model import format_set as format_set
    from negotiator_quotasets.language.model import format_sets as format_sets
    from negotiator_quotasets.language.parsing import ATTRIBUTES as ATTRIBUTES
    from negotiator_quotasets.language.parsing import ParsedAttributes as ParsedAttributes
    from negotiator_quotasets.language.parsing import ParsedSets as ParsedSets
    from negotiator_quotasets.language.parsing import parse_attributes as parse_attributes
    from negotiator_quotasets.language.parsing import parse_sets as parse_sets
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator_quotasets.language.lexer": "quotable",
            "negotiator_quotasets.language.model": (
                "GROUP SCOPES NameFilter QuotaRule RuleLimit RuleSet evaluate_formula format_rule "
                "format_set format_sets"
            ),
            "negotiator_quotasets.language.parsing": (
                "ATTRIBUTES ParsedAttributes ParsedSets parse_attributes parse_sets"
            ),
        },
    )
