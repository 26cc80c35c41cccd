"""Each kind of policy keeps jobs of a real pool idle, with the reason where their user looks, and lets them run once lifted.

The user sees the reason with ``condor_q -af LastRejMatchReason``.
"""

import attrs
import pytest

QUEUES = """partitions:
  - name: default
    queues:
      - name: root
        submitacl: "{acl}"
        queues:
          - name: default{more}
    placementrules:
      - name: fixed
        value: root.default
"""
USER_LIMIT = """
            limits:
              - limit: nobody has more than two processors
                users: ["*"]
                maxresources: {vcore: 2}"""
QUEUE_MAXIMUM = """
            resources:
              max: {vcore: 2}"""
MATCH = """policies:
  - name: not-for-closed-projects
    applies_to: match
    expression: MY.Project =!= "closed" || TARGET.Memory > 1000000
    description: closed projects have no slots
"""
CLOSED = '+Project = "closed"'


@attrs.frozen
class Case:
    """Jobs that a bundle stops, how many of them get a slot nevertheless, and the reason of the others."""

    reason: str
    yaml: str = ""
    files: dict[str, str] = attrs.field(factory=dict)
    jobs: int = 3
    running: int = 0
    more: str = ""


CASES = {
    "gate of HTCondor": Case(
        'NEGOTIATOR_JOB_CONSTRAINT is not true: MY.Project =!= "closed"',
        files={"central_conf": 'NEGOTIATOR_JOB_CONSTRAINT = MY.Project =!= "closed"\n'},
        more=CLOSED,
    ),
    "policy enforcement gate": Case(
        'NEGOTIATOR_PE_JOB_ONLY_EXPR is true: MY.Project =?= "closed"',
        'NEGOTIATOR_PE_JOB_ONLY_EXPR: MY.Project =?= "closed"\n',
        more=CLOSED,
    ),
    "expression of slots": Case(
        'NEGOTIATOR_PE_RESOURCE_EXPR: TARGET.Project =!= "closed"',
        'NEGOTIATOR_PE_RESOURCE_EXPR: TARGET.Project =!= "closed"\n',
        more=CLOSED,
    ),
    "expression of jobs": Case("closed projects have no slots", MATCH, more=CLOSED),
    "access control list": Case(
        "no placement rule has a queue for its application",
        files={"queues_yaml": QUEUES.format(acl="ann,bob", more="")},
    ),
    "user limit": Case(
        "user tester in root.default: vcore uses 2, needs 1, may have 2",
        files={"queues_yaml": QUEUES.format(acl="*", more=USER_LIMIT)},
        running=2,
    ),
    "queue maximum": Case(
        "queue root.default: vcore uses 2, needs 1, may have 2",
        files={"queues_yaml": QUEUES.format(acl="*", more=QUEUE_MAXIMUM)},
        running=2,
    ),
    "concurrency limit": Case(
        "concurrency limit matlab: uses 2, needs 1, may have 2",
        "concurrency_limits:\n  matlab: 2\n",
        running=2,
        more="concurrency_limits = matlab",
    ),
    "quota set": Case(
        'exceeds limit "tester/////" in rule "per_user/1"',
        files={"slots_rqs": "{\n name per_user\n limit users {*} to slots=2\n}\n"},
        running=2,
    ),
}


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_a_policy_keeps_jobs_idle_with_its_reason_and_they_run_once_it_is_lifted(site, case):
    site.write(case.yaml, **case.files)
    cluster = site.submit(case.jobs, seconds=600, more=case.more)
    with site.serving() as process:
        process.wait_for(
            lambda: (
                site.running(cluster) == case.running
                and any(case.reason in each for each in site.reasons(cluster))
            )
        )
        site.write()
        process.reload()
        process.wait_for(lambda: site.running(cluster) == case.jobs)
