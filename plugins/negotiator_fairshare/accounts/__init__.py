"""Accounts of submitters and accounting groups: priorities, factors, usage, ceilings, floors and leases.

Source: what condor_negotiator 25.14.1 wrote into ``Accountantnew.log`` for recorded pools. All records are immutable, and
nothing here reads a clock.
"""

from negotiator_fairshare.accounts.account import AccountRecord as AccountRecord
from negotiator_fairshare.accounts.account import ResourceRecord as ResourceRecord
from negotiator_fairshare.accounts.accounts import Accounts as Accounts
from negotiator_fairshare.accounts.settings import AccountSettings as AccountSettings
from negotiator_fairshare.accounts.use import UseCounter as UseCounter
