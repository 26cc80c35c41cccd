"""Checks of the records that plugins return, a module for each family of records.

Each check is called with a record and the arguments of the call. It returns the record that the core may keep, or raises
``WrongAnswerError`` with the expected form. Texts are made printable and shortened. Masks are copied and set read-only, so
that a plugin can't change its answer later.
A check is imported with the first answer that it is called with: those of cycles need NumPy.
"""

from typing import TYPE_CHECKING

from negotiator.lazy_names import lazy_names

if TYPE_CHECKING:
    from negotiator.hooks.checks.access import checked_access as checked_access
    from negotiator.hooks.checks.access import checked_group as checked_group
    from negotiator.hooks.checks.access import checked_user_groups as checked_user_groups
    from negotiator.hooks.checks.declarations import checked_starting_bundle as checked_starting_bundle
    from negotiator.hooks.checks.records import checked_charge as checked_charge
    from negotiator.hooks.checks.records import checked_entry as checked_entry
    from negotiator.hooks.checks.records import checked_filter as checked_filter
    from negotiator.hooks.checks.records import checked_gate as checked_gate
    from negotiator.hooks.checks.records import checked_report as checked_report
    from negotiator.hooks.checks.records import checked_score as checked_score
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator.hooks.checks.access": "checked_access checked_group checked_user_groups",
            "negotiator.hooks.checks.declarations": "checked_starting_bundle",
            "negotiator.hooks.checks.records": (
                "checked_charge checked_entry checked_filter checked_gate checked_report checked_score"
            ),
        },
    )
