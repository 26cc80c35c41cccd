"""The figures of a report: what a pool's negotiator decided in a period, from the records of its audit log."""

from negotiator.explain.report.collector import BlockedJobs as BlockedJobs
from negotiator.explain.report.collector import PeriodCollector as PeriodCollector
from negotiator.explain.report.collector import PeriodFigures as PeriodFigures
from negotiator.explain.report.collector import PoolPoint as PoolPoint
from negotiator.explain.report.collector import Series as Series
