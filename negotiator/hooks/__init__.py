"""The plugin contract: what a plugin may import, beside ``negotiator.classad`` and ``negotiator.records``."""

from negotiator.hooks.access import Access as Access
from negotiator.hooks.access import AccessQuestion as AccessQuestion
from negotiator.hooks.access import Act as Act
from negotiator.hooks.access import Decision as Decision
from negotiator.hooks.access import QueueNotice as QueueNotice
from negotiator.hooks.access import UserGroups as UserGroups
from negotiator.hooks.placement import Application as Application
from negotiator.hooks.placement import ConfiguredRule as ConfiguredRule
from negotiator.hooks.placement import PlacementRule as PlacementRule
from negotiator.hooks.placement import Target as Target
from negotiator.hooks.pluggy_adapter import hookimpl as hookimpl
from negotiator.hooks.records import AdKind as AdKind
from negotiator.hooks.records import Constraint as Constraint
from negotiator.hooks.records import ConstraintSide as ConstraintSide
from negotiator.hooks.records import Cycle as Cycle
from negotiator.hooks.records import Expression as Expression
from negotiator.hooks.records import Filter as Filter
from negotiator.hooks.records import Gate as Gate
from negotiator.hooks.records import Mask as Mask
from negotiator.hooks.records import Match as Match
from negotiator.hooks.records import Request as Request
from negotiator.hooks.records import Section as Section
