"""Accounts of submitters and accounting groups: priorities, factors, usage, ceilings, floors and leases.

Source: what condor_negotiator 25.14.1 wrote into ``Accountantnew.log`` for recorded pools. All records are immutable, and
nothing here reads a clock. A name is imported when it is used first.
"""

from typing import TYPE_CHECKING

from negotiator.plugin import lazy_names

if TYPE_CHECKING:
    from negotiator_fairshare.accounts.account import AccountRecord as AccountRecord
    from negotiator_fairshare.accounts.account import ResourceRecord as ResourceRecord
    from negotiator_fairshare.accounts.accounts import Accounts as Accounts
    from negotiator_fairshare.accounts.settings import AccountSettings as AccountSettings
    from negotiator_fairshare.accounts.use import UseCounter as UseCounter
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator_fairshare.accounts.account": "AccountRecord ResourceRecord",
            "negotiator_fairshare.accounts.accounts": "Accounts",
            "negotiator_fairshare.accounts.settings": "AccountSettings",
            "negotiator_fairshare.accounts.use": "UseCounter",
        },
    )
