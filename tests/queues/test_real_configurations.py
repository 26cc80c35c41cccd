"""Queue configurations of other projects: valid ones load unchanged, invalid ones have the expected errors."""

import os
from pathlib import Path

import pytest

from negotiator.bundle import examine_bundle
from negotiator.records import Severity

FOLDER = Path(os.environ.get("NEGOTIATOR_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "yunikorn"

#: Invalid on purpose, no configuration, or only a sketch of one; with the first error.
INVALID = {
    "yk011": "all resources of this limit are zero",
    "yk012": "not a valid amount of memory",
    "yk014": "all resources of this limit are zero",
    "yk015": "sets no maximum",
    "yk016": "duplicate limit for group test",
    "yk017": "group group1 comes after the wildcard",
    "yk018": "user user1 comes after the wildcard",
    "yk020": "duplicate limit for user *",
    "yk022": "the wildcard group alone",
    "yk023": "duplicate limit for user user.lastname",
    "yk025": "invalid user name",
    "yk028": "more than one space",
    "yk030": "more than the 100 of root.level1",
    "yk042": "resources of the root queue can't be set",
    "yk045": "unknown placement rule PrimaryGroup",
    "yk050": "not a valid regular expression",
    "yk051": "invalid user name",
    "yk056": "duplicate partition default",
    "yk058": "invalid queue name",
    "yk059": "not a valid amount of memory",
    "yk063": "invalid queue name",
    "yk064": "unknown key 'children'",
    "yk066": "weight of vcore is negative",
    "yk084": "expected a mapping, got 'ENABLED_STR'",
    "yk102": "sets no maximum",
    "yk104": "all resources of this limit are zero",
    "yk107": "unknown node sorting policy 'invalid'",
    "yk122": "invalid group name",
    "yk124": "invalid user name",
    "yk151": "expected a mapping, got 'wrong_text'",
    "yk153": "unknown key 'quota.preemption.delay'",
    "yk158": "invalid queue name",
    "yk162": "missing partition default",
    "yk163": "missing partition default",
    "yk169": "has no queues",
    "yk182": "expected a mapping, got a list",
    "yk183": "'0.5G' is not a valid amount of memory",
    "yk184": "has no queues",
    "yk185": "missing partition default",
    "yk186": "missing partition default",
    "yk187": "missing partition default",
    "yk193": "missing partition default",
    "ykbad02": "not valid YAML",
    "ykbad05": "not valid YAML",
    "ykbad07": "not valid YAML",
}


@pytest.mark.data
@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"there is no folder {FOLDER}")
def test_every_valid_configuration_loads_unchanged(tmp_path):
    """The first error of each invalid one is the intended one."""
    found = {}
    for number, file in enumerate(sorted(FOLDER.glob("*.yaml"))):
        bundle = tmp_path / str(number)
        bundle.mkdir()
        (bundle / "queues.yaml").write_bytes(file.read_bytes())
        problems = examine_bundle(bundle).problems
        errors = [str(problem) for problem in problems if problem.severity is Severity.ERROR]
        if errors:
            found[file.name.split("_")[0]] = errors[0]
    assert found.keys() == INVALID.keys()
    assert [name for name, message in found.items() if INVALID[name] not in message] == []
