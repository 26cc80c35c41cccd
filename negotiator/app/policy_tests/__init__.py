"""Use case: tests of policies: given ads, groups and a time, the expected decision about each job, and its reason."""

from negotiator.app.policy_tests.coverage import ExpressionCoverage as ExpressionCoverage
from negotiator.app.policy_tests.coverage import RuleCoverage as RuleCoverage
from negotiator.app.policy_tests.coverage import UncoveredRule as UncoveredRule
from negotiator.app.policy_tests.expectations import Mismatch as Mismatch
from negotiator.app.policy_tests.file import PolicyTestFile as PolicyTestFile
from negotiator.app.policy_tests.report import PolicyTestReport as PolicyTestReport
from negotiator.app.policy_tests.run import PolicyTestProgress as PolicyTestProgress
from negotiator.app.policy_tests.run import policy_test_files as policy_test_files
from negotiator.app.policy_tests.run import run_tests as run_tests
from negotiator.app.policy_tests.task import PolicyTestResult as PolicyTestResult
