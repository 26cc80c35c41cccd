"""Lint: what an author of an expression should look at before it goes into a policy.

``lint`` reads an expression by its text, and by the ads of a pool if they are given. What it says by the text alone is
proved, by the rules of evaluation, for any ads there can be; what it says of a pool holds for the ads of that pool, and
says so.
"""

from negotiator.classad.lint.expression_text import moved as moved
from negotiator.classad.lint.finding import Finding as Finding
from negotiator.classad.lint.finding import LintCode as LintCode
from negotiator.classad.lint.linting import lint as lint
