"""Why jobs get no slot, or a slot no job, as text: sentences and tables, for the command line, pages and the API."""

from negotiator.app.why.texts.holder import holder_text as holder_text
from negotiator.app.why.texts.holder import idle_text as idle_text
from negotiator.app.why.texts.job import WhyTable as WhyTable
from negotiator.app.why.texts.job import WhyText as WhyText
from negotiator.app.why.texts.job import job_text as job_text
from negotiator.app.why.texts.slot import slot_text as slot_text
