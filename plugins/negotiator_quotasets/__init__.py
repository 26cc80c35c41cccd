"""Resource quota sets, as Grid Engine has them: the language, the limits on the ledger, and the commands.

Source: "Resource Quota Sets"; sge_resource_quota(5), qconf(1), qquota(1). The hooks are imported when they are called for: the
help of a command needs none.
"""

from typing import TYPE_CHECKING

from negotiator.plugin import lazy_names

if TYPE_CHECKING:
    from negotiator_quotasets.hooks import negotiator_charges as negotiator_charges
    from negotiator_quotasets.hooks import negotiator_commands as negotiator_commands
    from negotiator_quotasets.hooks import negotiator_filter_slots as negotiator_filter_slots
    from negotiator_quotasets.hooks import negotiator_job_attributes as negotiator_job_attributes
    from negotiator_quotasets.hooks import negotiator_policy as negotiator_policy
    from negotiator_quotasets.hooks import negotiator_reports as negotiator_reports
    from negotiator_quotasets.hooks import negotiator_section as negotiator_section
    from negotiator_quotasets.hooks import negotiator_starting_bundles as negotiator_starting_bundles
    from negotiator_quotasets.hooks import negotiator_unused_hooks as negotiator_unused_hooks
    from negotiator_quotasets.hooks import negotiator_usage as negotiator_usage
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator_quotasets.hooks": (
                "negotiator_charges negotiator_commands negotiator_filter_slots negotiator_job_attributes "
                "negotiator_policy negotiator_reports negotiator_section negotiator_starting_bundles "
                "negotiator_unused_hooks negotiator_usage"
            ),
        },
    )
