"""Everything that a plugin imports: hooks, their records, ClassAd tables and expressions, queues, and problems.

See ``docs/hooks.md`` for the contract; ``negotiator.hooks.specs`` declares each hook. A name is imported when it is used
first: the help of a plugin's command needs few of them.
"""

from typing import TYPE_CHECKING

from negotiator.lazy_names import lazy_names as lazy_names

# The names are here twice: in a stub file import-linter would not see the imports, and a parser of them would slow each start.
if TYPE_CHECKING:
    from negotiator.classad import UNDEFINED as UNDEFINED
    from negotiator.classad import Ad as Ad
    from negotiator.classad import Allowance as Allowance
    from negotiator.classad import ClassAdValue as ClassAdValue
    from negotiator.classad import Environment as Environment
    from negotiator.classad import Expr as Expr
    from negotiator.classad import JobExpression as JobExpression
    from negotiator.classad import Kind as Kind
    from negotiator.classad import LiteralValue as LiteralValue
    from negotiator.classad import Payers as Payers
    from negotiator.classad import Side as Side
    from negotiator.classad import Table as Table
    from negotiator.classad import bind as bind
    from negotiator.classad import evaluate_table as evaluate_table
    from negotiator.classad import parse as parse
    from negotiator.classad import references as references
    from negotiator.classad import unparse as unparse
    from negotiator.classad import unparse_old as unparse_old
    from negotiator.classad import unparse_value as unparse_value
    from negotiator.errors import BundleError as BundleError
    from negotiator.errors import CommandError as CommandError
    from negotiator.errors import InvalidCallError as InvalidCallError
    from negotiator.errors import NegotiatorError as NegotiatorError
    from negotiator.errors import NotFoundError as NotFoundError
    from negotiator.errors import PluginFailureError as PluginFailureError
    from negotiator.errors import PoolError as PoolError
    from negotiator.errors import StateError as StateError
    from negotiator.exit_codes import ExitCode as ExitCode
    from negotiator.files import open_lock as open_lock
    from negotiator.files import open_regular as open_regular
    from negotiator.files import replace_file as replace_file
    from negotiator.hooks.access import Access as Access
    from negotiator.hooks.access import AccessDecision as AccessDecision
    from negotiator.hooks.access import AccessKind as AccessKind
    from negotiator.hooks.access import AccessQuestion as AccessQuestion
    from negotiator.hooks.access import QueueNotice as QueueNotice
    from negotiator.hooks.access import UserGroups as UserGroups
    from negotiator.hooks.accounts import AccountAd as AccountAd
    from negotiator.hooks.accounts import AccountChangeKind as AccountChangeKind
    from negotiator.hooks.accounts import AccountRequest as AccountRequest
    from negotiator.hooks.accounts import OrderAccounts as OrderAccounts
    from negotiator.hooks.accounts import PoolNegotiators as PoolNegotiators
    from negotiator.hooks.accounts import SharedRows as SharedRows
    from negotiator.hooks.accounts import SlotInUse as SlotInUse
    from negotiator.hooks.ad_kinds import AdKind as AdKind
    from negotiator.hooks.administration import Caller as Caller
    from negotiator.hooks.administration import ChangeOutcome as ChangeOutcome
    from negotiator.hooks.administration import ChangeStatus as ChangeStatus
    from negotiator.hooks.administration import CommandContext as CommandContext
    from negotiator.hooks.administration import LoadedBundle as LoadedBundle
    from negotiator.hooks.administration import Permission as Permission
    from negotiator.hooks.administration import PluginUsage as PluginUsage
    from negotiator.hooks.administration import RowsOutcome as RowsOutcome
    from negotiator.hooks.administration import StoredMatch as StoredMatch
    from negotiator.hooks.administration import StoredMatches as StoredMatches
    from negotiator.hooks.administration import StoredRows as StoredRows
    from negotiator.hooks.answers import HookFailure as HookFailure
    from negotiator.hooks.charges import Charge as Charge
    from negotiator.hooks.charges import CounterUsage as CounterUsage
    from negotiator.hooks.charges import Family as Family
    from negotiator.hooks.charges import Grouping as Grouping
    from negotiator.hooks.charges import KeyCharge as KeyCharge
    from negotiator.hooks.charges import Quota as Quota
    from negotiator.hooks.charges import RequestedCharge as RequestedCharge
    from negotiator.hooks.claims_in_use import ClaimsInUse as ClaimsInUse
    from negotiator.hooks.command_options import target_options as target_options
    from negotiator.hooks.command_targets import CommandTargets as CommandTargets
    from negotiator.hooks.declarations import Constraint as Constraint
    from negotiator.hooks.declarations import ConstraintSide as ConstraintSide
    from negotiator.hooks.declarations import DeclaredRule as DeclaredRule
    from negotiator.hooks.declarations import EvaluatedWith as EvaluatedWith
    from negotiator.hooks.declarations import Expression as Expression
    from negotiator.hooks.declarations import GateTest as GateTest
    from negotiator.hooks.declarations import RankExpression as RankExpression
    from negotiator.hooks.declarations import Section as Section
    from negotiator.hooks.delivery import Delivery as Delivery
    from negotiator.hooks.delivery import DeliveryStatus as DeliveryStatus
    from negotiator.hooks.order import CandidateRecheck as CandidateRecheck
    from negotiator.hooks.order import ClaimedAllowance as ClaimedAllowance
    from negotiator.hooks.order import Feedback as Feedback
    from negotiator.hooks.order import OrderContext as OrderContext
    from negotiator.hooks.order import OrderCounts as OrderCounts
    from negotiator.hooks.order import OrderResult as OrderResult
    from negotiator.hooks.order import OrderRows as OrderRows
    from negotiator.hooks.order import QueuedRequest as QueuedRequest
    from negotiator.hooks.order import QuotaQuery as QuotaQuery
    from negotiator.hooks.order import QuotaRefusal as QuotaRefusal
    from negotiator.hooks.order import RequestOrder as RequestOrder
    from negotiator.hooks.order import RequestRun as RequestRun
    from negotiator.hooks.order import ServedRun as ServedRun
    from negotiator.hooks.order import ShareUse as ShareUse
    from negotiator.hooks.order import SlotAllowance as SlotAllowance
    from negotiator.hooks.order import StopCause as StopCause
    from negotiator.hooks.order import WaitReason as WaitReason
    from negotiator.hooks.order import Weights as Weights
    from negotiator.hooks.order_type import PRE_JOB_RANK as PRE_JOB_RANK
    from negotiator.hooks.order_type import RequestOrderType as RequestOrderType
    from negotiator.hooks.order_type import RowsChange as RowsChange
    from negotiator.hooks.order_type import SlotRanks as SlotRanks
    from negotiator.hooks.overruns import Eviction as Eviction
    from negotiator.hooks.overruns import EvictionOutcome as EvictionOutcome
    from negotiator.hooks.overruns import Overrun as Overrun
    from negotiator.hooks.overruns import OverrunAction as OverrunAction
    from negotiator.hooks.overruns import Reuse as Reuse
    from negotiator.hooks.placement import Application as Application
    from negotiator.hooks.placement import ConfiguredRule as ConfiguredRule
    from negotiator.hooks.placement import PlacedApplication as PlacedApplication
    from negotiator.hooks.placement import PlacementRule as PlacementRule
    from negotiator.hooks.placement import QueueTarget as QueueTarget
    from negotiator.hooks.pluggy_adapter import hookimpl as hookimpl
    from negotiator.hooks.pluggy_adapter import plugin_manager as plugin_manager
    from negotiator.hooks.pool_source import PEER_GROUP as PEER_GROUP
    from negotiator.hooks.pool_source import Decisions as Decisions
    from negotiator.hooks.pool_source import LivePool as LivePool
    from negotiator.hooks.pool_source import ObservedPool as ObservedPool
    from negotiator.hooks.pool_source import PoolControl as PoolControl
    from negotiator.hooks.pool_source import PoolSetting as PoolSetting
    from negotiator.hooks.pool_source import PoolSource as PoolSource
    from negotiator.hooks.pool_source import RequestAnswer as RequestAnswer
    from negotiator.hooks.records import Cycle as Cycle
    from negotiator.hooks.records import EndedSlot as EndedSlot
    from negotiator.hooks.records import Filter as Filter
    from negotiator.hooks.records import Gate as Gate
    from negotiator.hooks.records import Mask as Mask
    from negotiator.hooks.records import Match as Match
    from negotiator.hooks.records import PreemptedJob as PreemptedJob
    from negotiator.hooks.records import Request as Request
    from negotiator.hooks.records import Score as Score
    from negotiator.hooks.records import SlotScore as SlotScore
    from negotiator.hooks.reports import CycleStatistics as CycleStatistics
    from negotiator.hooks.reports import CycleSummary as CycleSummary
    from negotiator.hooks.reports import Denial as Denial
    from negotiator.hooks.reports import DiscardCount as DiscardCount
    from negotiator.hooks.reports import ReasonCount as ReasonCount
    from negotiator.hooks.reports import Rejection as Rejection
    from negotiator.hooks.reports import Report as Report
    from negotiator.hooks.reports import ReportParameter as ReportParameter
    from negotiator.hooks.reports import ReportSource as ReportSource
    from negotiator.hooks.settings import KnownSetting as KnownSetting
    from negotiator.hooks.settings import boolean_setting as boolean_setting
    from negotiator.hooks.settings import real_setting as real_setting
    from negotiator.hooks.slot_offer import JointPreemption as JointPreemption
    from negotiator.hooks.slot_offer import Preemption as Preemption
    from negotiator.hooks.slot_offer import PreemptionRules as PreemptionRules
    from negotiator.hooks.slot_offer import PreemptionVictims as PreemptionVictims
    from negotiator.hooks.slot_offer import SharedBudget as SharedBudget
    from negotiator.hooks.slot_offer import SlotOffer as SlotOffer
    from negotiator.hooks.slot_offer import WithheldSlots as WithheldSlots
    from negotiator.hooks.starting_bundles import SAMPLE_SLOT_CPUS as SAMPLE_SLOT_CPUS
    from negotiator.hooks.starting_bundles import OwnFile as OwnFile
    from negotiator.hooks.starting_bundles import SampleJob as SampleJob
    from negotiator.hooks.starting_bundles import StartingBundle as StartingBundle
    from negotiator.hooks.starting_bundles import StartingFiles as StartingFiles
    from negotiator.hooks.starting_bundles import StartingQuestion as StartingQuestion
    from negotiator.hooks.starting_bundles import StartingRequest as StartingRequest
    from negotiator.hooks.starting_bundles import files_by_name as files_by_name
    from negotiator.hooks.starting_bundles import render_templates as render_templates
    from negotiator.hooks.starting_bundles import yaml_in_line as yaml_in_line
    from negotiator.hooks.turn_time import TimeLimit as TimeLimit
    from negotiator.hooks.turn_time import TurnTime as TurnTime
    from negotiator.hooks.turn_time import UnlimitedTime as UnlimitedTime
    from negotiator.ledger import CounterKey as CounterKey
    from negotiator.ledger import Ints as Ints
    from negotiator.pool import ClaimedJob as ClaimedJob
    from negotiator.pool import ClaimVault as ClaimVault
    from negotiator.pool import PoolAds as PoolAds
    from negotiator.pool import SlotChanges as SlotChanges
    from negotiator.queues import RECOVERY as RECOVERY
    from negotiator.queues import ROOT as ROOT
    from negotiator.queues import Acl as Acl
    from negotiator.queues import NodeSortKind as NodeSortKind
    from negotiator.queues import NodeSortPolicy as NodeSortPolicy
    from negotiator.queues import PartitionConfig as PartitionConfig
    from negotiator.queues import QueueConfig as QueueConfig
    from negotiator.queues import QueueLimit as QueueLimit
    from negotiator.queues import QueueTree as QueueTree
    from negotiator.queues.acl import HINT as HINT
    from negotiator.queues.acl import AclError as AclError
    from negotiator.queues.checks.limits import SubjectKind as SubjectKind
    from negotiator.queues.modes import LIMITS_MODE as LIMITS_MODE
    from negotiator.queues.modes import MAXIMA_MODE as MAXIMA_MODE
    from negotiator.queues.modes import configured_modes as configured_modes
    from negotiator.queues.names import WILDCARD as WILDCARD
    from negotiator.queues.names import parent_of as parent_of
    from negotiator.queues.names import upwards as upwards
    from negotiator.queues.quantities import Resources as Resources
    from negotiator.queues.quantities import format_amounts as format_amounts
    from negotiator.queues.quantities import format_quantity as format_quantity
    from negotiator.queues.settings import MAX_PRIORITY as MAX_PRIORITY
    from negotiator.queues.settings import MIN_PRIORITY as MIN_PRIORITY
    from negotiator.queues.settings import QUEUE_SETTINGS as QUEUE_SETTINGS
    from negotiator.queues.settings import SORT_POLICY as SORT_POLICY
    from negotiator.queues.settings import PreemptionPolicy as PreemptionPolicy
    from negotiator.queues.settings import PriorityPolicy as PriorityPolicy
    from negotiator.queues.settings import QueueSettings as QueueSettings
    from negotiator.queues.settings import SortPolicy as SortPolicy
    from negotiator.queues.settings import effective_settings as effective_settings
    from negotiator.queues.settings import read_queue_property as read_queue_property
    from negotiator.records import Mode as Mode
    from negotiator.records import Problem as Problem
    from negotiator.records import Reason as Reason
    from negotiator.records import ScalarText as ScalarText
    from negotiator.records import Severity as Severity
    from negotiator.records import Source as Source
    from negotiator.records import Verdict as Verdict
    from negotiator.records.problem import SERVICE_CONFIGURATION as SERVICE_CONFIGURATION
    from negotiator.records.text import local_time as local_time
    from negotiator.records.text import printable as printable
    from negotiator.records.text import suggest as suggest
else:
    _NAMES = {
        "negotiator.classad": (
            "UNDEFINED Ad Allowance ClassAdValue Environment Expr JobExpression Kind "
            "LiteralValue Payers Side Table bind evaluate_table parse references unparse "
            "unparse_old unparse_value"
        ),
        "negotiator.errors": (
            "BundleError CommandError InvalidCallError NegotiatorError NotFoundError "
            "PluginFailureError PoolError StateError"
        ),
        "negotiator.exit_codes": "ExitCode",
        "negotiator.files": "open_lock open_regular replace_file",
        "negotiator.hooks.access": ("Access AccessDecision AccessKind AccessQuestion QueueNotice UserGroups"),
        "negotiator.hooks.accounts": (
            "AccountAd AccountChangeKind AccountRequest OrderAccounts PoolNegotiators SharedRows SlotInUse"
        ),
        "negotiator.hooks.ad_kinds": "AdKind",
        "negotiator.hooks.administration": (
            "Caller ChangeOutcome ChangeStatus CommandContext LoadedBundle Permission "
            "PluginUsage RowsOutcome StoredMatch StoredMatches StoredRows"
        ),
        "negotiator.hooks.answers": "HookFailure",
        "negotiator.hooks.charges": ("Charge CounterUsage Family Grouping KeyCharge Quota RequestedCharge"),
        "negotiator.hooks.claims_in_use": "ClaimsInUse",
        "negotiator.hooks.command_options": "target_options",
        "negotiator.hooks.command_targets": "CommandTargets",
        "negotiator.hooks.declarations": (
            "Constraint ConstraintSide DeclaredRule EvaluatedWith Expression GateTest RankExpression Section"
        ),
        "negotiator.hooks.pluggy_adapter": "hookimpl plugin_manager",
        "negotiator.hooks.order": (
            "CandidateRecheck ClaimedAllowance Feedback OrderContext OrderCounts OrderResult "
            "OrderRows QueuedRequest QuotaQuery QuotaRefusal RequestOrder RequestRun "
            "ServedRun ShareUse SlotAllowance StopCause WaitReason Weights"
        ),
        "negotiator.hooks.order_type": "PRE_JOB_RANK RequestOrderType RowsChange SlotRanks",
        "negotiator.hooks.overruns": "Eviction EvictionOutcome Overrun OverrunAction Reuse",
        "negotiator.hooks.placement": (
            "Application ConfiguredRule PlacedApplication PlacementRule QueueTarget"
        ),
        "negotiator.hooks.delivery": "Delivery DeliveryStatus",
        "negotiator.hooks.pool_source": (
            "PEER_GROUP Decisions LivePool ObservedPool PoolControl PoolSetting PoolSource RequestAnswer"
        ),
        "negotiator.hooks.records": (
            "Cycle EndedSlot Filter Gate Mask Match PreemptedJob Request Score SlotScore"
        ),
        "negotiator.hooks.reports": (
            "CycleStatistics CycleSummary Denial DiscardCount ReasonCount Rejection Report "
            "ReportParameter ReportSource"
        ),
        "negotiator.hooks.settings": "KnownSetting boolean_setting real_setting",
        "negotiator.hooks.slot_offer": (
            "JointPreemption Preemption PreemptionRules PreemptionVictims "
            "SharedBudget SlotOffer WithheldSlots"
        ),
        "negotiator.hooks.starting_bundles": (
            "SAMPLE_SLOT_CPUS OwnFile SampleJob StartingBundle StartingFiles StartingQuestion "
            "StartingRequest files_by_name render_templates yaml_in_line"
        ),
        "negotiator.hooks.turn_time": "TimeLimit TurnTime UnlimitedTime",
        "negotiator.lazy_names": "lazy_names",
        "negotiator.ledger": "CounterKey Ints",
        "negotiator.pool": "ClaimVault ClaimedJob PoolAds SlotChanges",
        "negotiator.queues": (
            "RECOVERY ROOT Acl NodeSortKind NodeSortPolicy PartitionConfig QueueConfig QueueLimit QueueTree"
        ),
        "negotiator.queues.acl": "HINT AclError",
        "negotiator.queues.checks.limits": "SubjectKind",
        "negotiator.queues.modes": "LIMITS_MODE MAXIMA_MODE configured_modes",
        "negotiator.queues.names": "WILDCARD parent_of upwards",
        "negotiator.queues.quantities": "Resources format_amounts format_quantity",
        "negotiator.queues.settings": (
            "MAX_PRIORITY MIN_PRIORITY QUEUE_SETTINGS SORT_POLICY PreemptionPolicy "
            "PriorityPolicy QueueSettings SortPolicy effective_settings read_queue_property"
        ),
        "negotiator.records": "Mode Problem Reason ScalarText Severity Source Verdict",
        "negotiator.records.problem": "SERVICE_CONFIGURATION",
        "negotiator.records.text": "local_time printable suggest",
    }
    __getattr__, __dir__ = lazy_names(__name__, _NAMES)
    __all__ = " ".join(_NAMES.values()).split()  # noqa: PLE0605 - the names above
