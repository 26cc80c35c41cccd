"""A bundle with two policies and a test of them, as ``negotiator test`` finds it in the current folder."""

import json
from pathlib import Path

from click.testing import CliRunner

from negotiator.cli import main

BUNDLE = """
policies:
  - name: fast-machines
    applies_to: startd
    expression: MY.Mips < 1000
  - name: not-for-zoe
    applies_to: match
    expression: MY.Owner =!= "zoe"
groups: {map: groups.yaml}
"""
TESTS = """
slots:
  - {Name: slot1@fast, Mips: 4000}
  - {Name: slot1@slow, Mips: 100}
  - {Name: slot1@other, Mips: 3000}
  - {Name: slot1@unknown}
tests:
  - name: jobs run on fast machines
    jobs:
      - {Owner: sue}
      - {Owner: zoe}
    matches: 1
    expect:
      - {job: 1.0, verdict: matched, slot: slot1@fast}
      - {job: 1.1, verdict: denied, rule: not-for-zoe}
"""


class BundleWithTests:
    """The folder ``bundle``; its tests are in ``a_test.yaml``."""

    def __init__(self, parent):
        self.folder = parent / "bundle"
        self.folder.mkdir(mode=0o755)
        self.write("pool.yaml", BUNDLE)
        self.write("groups.yaml", "anna: [physics]\n")
        self.replace_tests(TESTS)

    def write(self, name, text):
        """Write a file."""
        (self.folder / name).write_text(text)

    def replace_tests(self, text):
        """Write the file of the tests."""
        self.write("a_test.yaml", text)

    def add(self, text):
        """Write lines behind the first test."""
        self.replace_tests(f"{TESTS}{text}")

    def run(self, *words):
        """Run the tests of the bundle; return click's result."""
        return CliRunner().invoke(main, ["test", "--bundle", "bundle", *words])

    def run_with(self, text):
        """Run these tests; return click's result."""
        self.replace_tests(text)
        return self.run()

    def pass_with(self, text):
        """Run these tests, which have to pass."""
        done = self.run_with(text)
        assert done.exit_code == 0, done.output

    def report(self, *words):
        """Run the tests, and return the report in JSON."""
        return json.loads(self.run("--format", "json", *words).output)

    def uncovered(self, *words):
        """Return what the tests have not seen, by rule: the place of the rule, and the values."""
        found = self.report(*words)["uncovered"]
        return {
            each["rule"]: (f"{Path(each['file']).name}:{each['line']}", each["missing"]) for each in found
        }
