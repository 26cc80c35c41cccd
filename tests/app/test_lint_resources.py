"""``check`` reports amounts of resources that nobody has."""

import pytest

from negotiator.app.check import check_bundle
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Severity
from pools import job, slot, snapshot
from queueing import write

QUEUES = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: one
            resources: {max: {vcore: 4, MAXIMUM: 4}}
          - name: above
            parent: true
            childtemplate: {resources: {max: {TEMPLATE: 1}}}
            limits:
              - {users: ["*"], maxresources: {memory: 4G, LIMIT: 4}}
"""


@pytest.fixture
def check(tmp_path):
    """Return a function that checks a bundle with three names of resources; the lines with a problem, and if it is ok."""

    def checked(maximum="vcore", template="vcore", limit="vcore", pool=None, settings=""):
        text = QUEUES.replace("vcore: 4, MAXIMUM", "vcore: 4, MAXIMUM" if maximum != "vcore" else "MAXIMUM")
        for word, name in (("MAXIMUM", maximum), ("TEMPLATE", template), ("LIMIT", limit)):
            text = text.replace(word, name)
        write(tmp_path / "bundle", text, settings)
        found = check_bundle(CommandTargets(bundle=tmp_path / "bundle", now=1.7e9), pool)
        problems = [each for each in found.problems if each.code == "resource_unknown"]
        return [
            (str(each.severity), each.source.line, each.hint) for each in problems
        ], found.bundle is not None

    return checked


def test_an_amount_that_neither_a_slot_nor_a_job_has_is_an_error_with_a_pool(check):
    """At each place; the hint is a name that exists, or the key that configures the resource."""
    pool = snapshot([slot(0, GPUs="0")], [job(0)])
    configure = "remove it, or configure how jobs request it: placement: resources: "
    problems, ok = check(maximum="gpu", template="tapes", limit="licences", pool=pool)
    lines = [line for _, line, _ in problems]
    assert ([severity for severity, _, _ in problems], ok) == ([Severity.ERROR] * 3, False)
    assert lines == sorted(lines)
    assert [hint for _, _, hint in problems] == [
        "did you mean gpus?",
        f"{configure}tapes:",
        f"{configure}licences:",
    ]


@pytest.mark.parametrize(
    "pool",
    [
        snapshot([slot(0, GPU="1")], [job(0)]),
        snapshot([slot(0)], [job(0, RequestGPU="2")]),
        snapshot([slot(0)], [job(0, RequestGPU="1 + 1")]),
    ],
)
def test_an_amount_that_a_slot_or_a_job_has_is_no_problem(check, pool):
    """Names of attributes ignore case."""
    assert check(maximum="gpu", pool=pool) == ([], True)


def test_a_configured_resource_is_never_an_error(check):
    """The administrator has named the attribute: the pool may get the resource later."""
    settings = "placement:\n  resources:\n    gpu: MY.RequestGPUs\n"
    assert check(maximum="gpu", pool=snapshot([slot(0)], [job(0)]), settings=settings) == ([], True)


def test_without_a_pool_an_unusual_name_is_a_warning(check):
    """Whether anybody has it is unknown."""
    assert check(maximum="gpu", limit="tapes")[0] == [
        ("warning", 8, "did you mean gpus?"),
        ("warning", 14, "use check --pool to see whether anybody has it"),
    ]
    assert check(maximum="gpu")[1]
    assert check(maximum="disk", template="cpu", limit="GPUs") == ([], True)
