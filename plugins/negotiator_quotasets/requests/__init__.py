"""Requests of jobs, read in the terms of Grid Engine."""

from negotiator_quotasets.requests.reader import Claimant as Claimant
from negotiator_quotasets.requests.reader import EvaluationContext as EvaluationContext
from negotiator_quotasets.requests.reader import QuotaRequest as QuotaRequest
from negotiator_quotasets.requests.reader import RequestedResources as RequestedResources
from negotiator_quotasets.requests.reader import RequestReader as RequestReader
from negotiator_quotasets.requests.reader import RequestValues as RequestValues
from negotiator_quotasets.requests.reader import text_of as text_of
