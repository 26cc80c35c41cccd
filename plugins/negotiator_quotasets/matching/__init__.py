"""The rules that apply to a claimant on each host, and their charges."""

from negotiator_quotasets.matching.bounded_cache import BoundedCache as BoundedCache
from negotiator_quotasets.matching.host_index import Codes as Codes
from negotiator_quotasets.matching.host_index import HostIndex as HostIndex
from negotiator_quotasets.matching.names import Hosts as Hosts
from negotiator_quotasets.matching.rules import ClaimantRules as ClaimantRules
from negotiator_quotasets.matching.rules import Rules as Rules
