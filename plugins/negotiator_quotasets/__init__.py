"""Resource quota sets, as Grid Engine has them: the language, the limits on the ledger, and the commands.

Source: "Resource Quota Sets"; sge_resource_quota(5), qconf(1), qquota(1).
"""

from negotiator_quotasets.hooks import negotiator_charges as negotiator_charges
from negotiator_quotasets.hooks import negotiator_commands as negotiator_commands
from negotiator_quotasets.hooks import negotiator_filter_slots as negotiator_filter_slots
from negotiator_quotasets.hooks import negotiator_job_attributes as negotiator_job_attributes
from negotiator_quotasets.hooks import negotiator_section as negotiator_section
from negotiator_quotasets.hooks import negotiator_usage as negotiator_usage
