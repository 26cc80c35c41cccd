"""The rules that apply to a claimant on each host, and their charges."""

from negotiator_quotasets.matching.names import Hosts as Hosts
from negotiator_quotasets.matching.rules import BoundedCache as BoundedCache
from negotiator_quotasets.matching.rules import ClaimantRules as ClaimantRules
from negotiator_quotasets.matching.rules import Codes as Codes
from negotiator_quotasets.matching.rules import HostIndex as HostIndex
from negotiator_quotasets.matching.rules import Rules as Rules
