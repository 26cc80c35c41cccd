"""A second, simple implementation of one negotiation cycle: the rules of HTCondor's negotiator, a function a rule.

It decides pools in the form of the recorded cases (see ``condor_cases``) and answers in the form of their ``expect``.
Only the ClassAd language is the project's. Every pair of a job and a slot is looked at by itself.
Not here: consumption policies, global job priorities, WantAdRevaluate, more than 16 equal candidates.
"""

from simple_negotiator.cycle import Negotiator as Negotiator
