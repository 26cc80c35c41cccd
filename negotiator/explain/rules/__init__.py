"""Counts what each rule does in a cycle: by itself, and of that what no other rule does too."""

from negotiator.explain.rules.counts import RuleCounts as RuleCounts
from negotiator.explain.rules.counts import RuleKey as RuleKey
from negotiator.explain.rules.turns import CountedRules as CountedRules
from negotiator.explain.rules.turns import count_rules as count_rules
