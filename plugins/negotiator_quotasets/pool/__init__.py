"""The rules and capacities over the slots of a pool: the charges and filters of a request."""

from negotiator_quotasets.pool.cycle_rules import rules_of_cycle as rules_of_cycle
from negotiator_quotasets.pool.pool_rules import PoolRules as PoolRules
