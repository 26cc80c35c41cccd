"""The plugin contract: every hook, its arguments, its records, and the effect of a failure.

A plugin is a module (or an object) with functions of these names, marked with ``negotiator.plugin.hookimpl``. A function
may leave out arguments that it does not need. Implementations are called in the order in which the bundle lists the
plugins (``plugins: order:``), then by plugin name, each by itself: the answer of one plugin never hides that of another.

``settings`` is the plugin's own part of the bundle (an instance of its ``Section.schema``), or None if it declared none.
All arguments of a hook are read-only.

The declarations are in modules by the caller: ``loading``, ``cycle``, ``reporting`` and ``program``. All names are imported from this
package. A new hook is one declaration, its name here, and one section in ``docs/hooks.md``.
"""

from types import ModuleType
from typing import Final

from negotiator.hooks.specs import cycle, loading, program, reporting
from negotiator.hooks.specs.cycle import negotiator_access as negotiator_access
from negotiator.hooks.specs.cycle import negotiator_application_groups as negotiator_application_groups
from negotiator.hooks.specs.cycle import negotiator_charges as negotiator_charges
from negotiator.hooks.specs.cycle import negotiator_filter_slots as negotiator_filter_slots
from negotiator.hooks.specs.cycle import negotiator_gate_ads as negotiator_gate_ads
from negotiator.hooks.specs.cycle import negotiator_score_slots as negotiator_score_slots
from negotiator.hooks.specs.cycle import negotiator_user_groups as negotiator_user_groups
from negotiator.hooks.specs.loading import negotiator_constraints as negotiator_constraints
from negotiator.hooks.specs.loading import negotiator_gate_attributes as negotiator_gate_attributes
from negotiator.hooks.specs.loading import negotiator_job_attributes as negotiator_job_attributes
from negotiator.hooks.specs.loading import negotiator_orders as negotiator_orders
from negotiator.hooks.specs.loading import negotiator_placement_rules as negotiator_placement_rules
from negotiator.hooks.specs.loading import negotiator_policy as negotiator_policy
from negotiator.hooks.specs.loading import negotiator_pool_sources as negotiator_pool_sources
from negotiator.hooks.specs.loading import negotiator_section as negotiator_section
from negotiator.hooks.specs.loading import negotiator_unused_hooks as negotiator_unused_hooks
from negotiator.hooks.specs.program import negotiator_commands as negotiator_commands
from negotiator.hooks.specs.program import negotiator_starting_bundles as negotiator_starting_bundles
from negotiator.hooks.specs.reporting import negotiator_cycle_ended as negotiator_cycle_ended
from negotiator.hooks.specs.reporting import negotiator_matches_made as negotiator_matches_made
from negotiator.hooks.specs.reporting import negotiator_queues_changed as negotiator_queues_changed
from negotiator.hooks.specs.reporting import negotiator_reports as negotiator_reports
from negotiator.hooks.specs.reporting import negotiator_usage as negotiator_usage

#: The modules with the declarations, in the order of ``docs/hooks.md``.
CONTRACT: Final[tuple[ModuleType, ...]] = (loading, cycle, reporting, program)
