"""Evaluation of one expression for one ad or one pair of ads, exactly as HTCondor's ClassAd library does it."""

from negotiator.classad.scalar.compiler import compiled as compiled
from negotiator.classad.scalar.evaluation import Ad as Ad
from negotiator.classad.scalar.evaluation import JobExpression as JobExpression
from negotiator.classad.scalar.evaluation import Paying as Paying
from negotiator.classad.scalar.evaluation import evaluate as evaluate
from negotiator.classad.scalar.evaluation import evaluate_paid as evaluate_paid
from negotiator.classad.scalar.evaluation import evaluate_part as evaluate_part
from negotiator.classad.scalar.evaluation import is_true as is_true
from negotiator.classad.scalar.evaluation import parse_ad as parse_ad
from negotiator.classad.scalar.tracing import Trace as Trace
from negotiator.classad.scalar.tracing import TraceStep as TraceStep
from negotiator.classad.scalar.tracing import trace as trace
