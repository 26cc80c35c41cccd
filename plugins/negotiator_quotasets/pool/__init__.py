"""The rules and capacities over the slots of a pool: the charges and filters of a request."""

from negotiator_quotasets.pool.pool_rules import PoolRules as PoolRules
from negotiator_quotasets.pool.pool_rules import RulesByMode as RulesByMode
from negotiator_quotasets.pool.pool_rules import rules_by_mode as rules_by_mode
