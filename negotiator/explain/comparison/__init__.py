"""Compares two decisions of a cycle job by job, and adds up the differences of many cycles."""

from negotiator.explain.comparison.compare import compare as compare
from negotiator.explain.comparison.report import ChangedJob as ChangedJob
from negotiator.explain.comparison.report import ChangeKind as ChangeKind
from negotiator.explain.comparison.report import CycleComparison as CycleComparison
from negotiator.explain.comparison.report import MatchChanges as MatchChanges
from negotiator.explain.comparison.report import RuleChanges as RuleChanges
from negotiator.explain.comparison.report import ShareChange as ShareChange
from negotiator.explain.comparison.report import ShareSums as ShareSums
from negotiator.explain.comparison.report import merged as merged
