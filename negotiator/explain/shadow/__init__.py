"""Compares the decisions of a cycle in shadow mode with what the pool's own negotiator did until the next snapshot."""

from negotiator.explain.shadow.compare import compare as compare
from negotiator.explain.shadow.observation import Observation as Observation
from negotiator.explain.shadow.outcomes import JobDecisions as JobDecisions
from negotiator.explain.shadow.report import Cause as Cause
from negotiator.explain.shadow.report import Difference as Difference
from negotiator.explain.shadow.report import DifferenceKind as DifferenceKind
from negotiator.explain.shadow.report import ShadowReport as ShadowReport
from negotiator.explain.shadow.report import ShadowTotals as ShadowTotals
