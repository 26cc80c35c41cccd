"""Records that all rooms share: problems of inputs, reasons of verdicts, and places in files."""

from negotiator.records.problem import Problem as Problem
from negotiator.records.problem import Severity as Severity
from negotiator.records.problem import Source as Source
from negotiator.records.reason import CORE as CORE
from negotiator.records.reason import Mode as Mode
from negotiator.records.reason import Provenance as Provenance
from negotiator.records.reason import Reason as Reason
from negotiator.records.reason import Station as Station
from negotiator.records.reason import Verdict as Verdict
from negotiator.records.text import ScalarText as ScalarText
