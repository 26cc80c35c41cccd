"""Words of the reports of cycles."""

from negotiator.app.phrases import number as number
from negotiator.app.phrases import rule as rule
from negotiator.app.phrases import sentence as sentence
