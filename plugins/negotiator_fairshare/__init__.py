"""Fair share: whose turn it is, as HTCondor's negotiator decides it.

``accounts`` has the accounts of submitters, ``groups`` computes quotas and negotiation rounds of accounting groups, and
``pie`` divides the pool in spins. The hooks are imported when they are called for: the help of the command needs none.
"""

from typing import TYPE_CHECKING

from negotiator.plugin import lazy_names

if TYPE_CHECKING:
    from negotiator_fairshare.hooks import negotiator_charges as negotiator_charges
    from negotiator_fairshare.hooks import negotiator_commands as negotiator_commands
    from negotiator_fairshare.hooks import negotiator_job_attributes as negotiator_job_attributes
    from negotiator_fairshare.hooks import negotiator_orders as negotiator_orders
    from negotiator_fairshare.hooks import negotiator_policy as negotiator_policy
    from negotiator_fairshare.hooks import negotiator_reports as negotiator_reports
    from negotiator_fairshare.hooks import negotiator_section as negotiator_section
    from negotiator_fairshare.hooks import negotiator_unused_hooks as negotiator_unused_hooks
    from negotiator_fairshare.hooks import negotiator_usage as negotiator_usage
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator_fairshare.hooks": (
                "negotiator_charges negotiator_commands negotiator_job_attributes negotiator_orders "
                "negotiator_policy negotiator_reports negotiator_section negotiator_unused_hooks negotiator_usage"
            ),
        },
    )
