"""Lint: finds probable mistakes in an expression before it goes into a policy.

``lint`` examines an expression by its text, and with the ads of a pool if they are given. Findings from the text alone are
proved, by the rules of evaluation, for all possible ads. Findings from a pool hold for its ads only; their messages name them.
"""

from negotiator.classad.lint.findings import Finding as Finding
from negotiator.classad.lint.findings import LintCode as LintCode
from negotiator.classad.lint.findings import moved as moved
from negotiator.classad.lint.linting import lint as lint
from negotiator.classad.lint.linting import names_read as names_read
