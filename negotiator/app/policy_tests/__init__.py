"""Use case: tests of policies: given ads, groups and a time, the expected decision about each job, and its reason."""

from negotiator.app.policy_tests.coverage import ExpressionCoverage as ExpressionCoverage
from negotiator.app.policy_tests.file import TestFile as TestFile
from negotiator.app.policy_tests.run import Mismatch as Mismatch
from negotiator.app.policy_tests.run import TestReport as TestReport
from negotiator.app.policy_tests.run import TestResult as TestResult
from negotiator.app.policy_tests.run import run_tests as run_tests
from negotiator.app.policy_tests.run import test_files as test_files
