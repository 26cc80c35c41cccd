"""Why jobs get no slot, or a slot no job, in words: sentences and tables, for the command line, pages and the API."""

from negotiator.app.why_words.holder import holder_words as holder_words
from negotiator.app.why_words.job import job_words as job_words
from negotiator.app.why_words.slot import slot_words as slot_words
from negotiator.app.why_words.texts import WhyTable as WhyTable
from negotiator.app.why_words.texts import WhyWords as WhyWords
