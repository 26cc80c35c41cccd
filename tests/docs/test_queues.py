"""The pages about queues and placement rules agree with the program: their examples are run, their tables compared."""

import json
import re
import shlex

import attrs
import pytest
from click.testing import CliRunner

import pools
from negotiator.bundle import check_bundle, load_bundle
from negotiator.bundle.model import PlacementSettings
from negotiator.cli import main
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.placement.chain import FATAL, NO_RULE_MATCHED, PlacementStep
from negotiator.plugin import AccessDecision, AccessKind, AccessQuestion, Cycle
from negotiator.queues import Acl, QueueChangeKind, QueueState, QueueTree
from negotiator.queues import config as written
from negotiator.queues.quantities import QuantityError, parse_quantity
from negotiator.runtime.state import AdminAction
from queue_pages import GROUPS, PAGES, ROOT, cells, folder_of, names, pieces, placed


@attrs.frozen
class Example:
    """A queue configuration of a page, and the rows of the table below it."""

    queues: str
    pool: str
    rows: list[list[str]]


def tables(page, head):
    """Return the rows of all tables of a page with this header."""
    found = [cells(piece) for kind, piece in pieces(PAGES[page]) if kind == "table"]
    return [row for table in found if table[0] == head for row in table[1:]]


def examples(page):
    """Return every queue configuration of a page; rules alone replace those of the first one."""
    base = pool = queues = ""
    for kind, piece in pieces(PAGES[page]):
        if kind == "section":
            pool = ""
        elif kind == "yaml" and piece.startswith("partitions:"):
            base, queues = base or piece, piece
        elif kind == "yaml" and piece.startswith("placementrules:"):
            queues = base.partition("    placementrules:")[0] + re.sub("^", "    ", piece, flags=re.MULTILINE)
        elif kind == "yaml":
            pool = piece
        elif cells(piece)[0] == ["user", "groups", "asks for", "tag", "goes to", "codes"]:
            yield Example(queues, pool, cells(piece)[1:])


EXAMPLES = [(page, example) for page in PAGES for example in examples(page)]
ROWS = [
    pytest.param(example, row, id=f"{page}-{number}-{row[0]}")
    for page, example in EXAMPLES
    for number, row in enumerate(example.rows, 1)
]


def test_each_rule_has_an_example():
    """So has each rule of the older document, except two without an example there."""
    used = {
        name.lower()
        for _, example in EXAMPLES
        for name in re.findall("- name: ([A-Za-z]+)$", example.queues, re.MULTILINE)
    }
    assert used >= {"provided", "user", "fixed", "tag", "username"}
    assert len(ROWS) >= 25


@pytest.mark.parametrize(("example", "row"), ROWS)
def test_an_application_is_placed_as_in_the_table(tmp_path, example, row):
    user, groups, queue, tag, target, codes = row
    bundle = load_bundle(folder_of(tmp_path, example.queues, example.pool))
    assert placed(bundle, user, names(groups), queue, tag) == (target, list(names(codes)))


@pytest.mark.parametrize("example", [example for _, example in EXAMPLES])
def test_check_reports_nothing_about_an_example(tmp_path, example):
    assert list(check_bundle(folder_of(tmp_path, example.queues, example.pool))) == []


@pytest.mark.parametrize(
    "text",
    [
        piece
        for text in PAGES.values()
        for kind, piece in pieces(text)
        if kind == "yaml" and not piece.startswith(("partitions:", "placementrules:"))
    ],
)
def test_every_piece_of_pool_yaml_passes_check(tmp_path, text):
    (tmp_path / "pool.yaml").write_text(text)
    (tmp_path / "groups.yaml").write_text(GROUPS)
    assert list(check_bundle(tmp_path)) == []


#: The configuration of the section about what is counted, and the head of the table below it.
COUNTED = next(text for kind, text in pieces(PAGES["queues"]) if kind == "yaml" and "maxresources" in text)
WHY = ["user", "groups", "RequestCpus", "jobs", "matched", "verdict", "why not all"]


@pytest.mark.parametrize("row", tables("queues", WHY))
def test_matches_and_reasons_are_those_of_the_table(tmp_path, row):
    user, groups, cpus, jobs, matched, verdict, why = row
    bundle = load_bundle(folder_of(tmp_path, COUNTED))
    requested = {"Owner": f'"{user}"', "Queue": '"root.students"', "RequestMemory": "1024"}
    ads = [pools.job(number, **requested, RequestCpus=cpus or None) for number in range(int(jobs))]
    slots = [pools.slot(number, Cpus="16") for number in range(4)]
    state = attrs.evolve(CycleState.new(bundle, pools.NOW), groups={user: names(groups)})
    result = run_cycle(pools.snapshot(slots, ads), bundle, Cycle(1, pools.NOW, bundle.digest), state)
    (documented,) = (each.reason for outcome in result.outcomes for each in outcome.removals)
    assert (str(len(result.matches)), documented.verdict, documented.text) == (matched, verdict, why)
    assert documented.code in {"amount_unknown", "user_limit", "group_limit"}


def test_the_numbers_and_codes_of_all_kinds_of_limits_are_documented():
    """The codes of bundled plugins are in the page."""
    sources = "".join(path.read_text() for path in (ROOT / "plugins").glob("negotiator_[lmc]*/*.py"))
    codes = {"user_limit", "group_limit", "quota", *re.findall(r'code="(\w+)"', sources)}
    assert {"concurrency_limit", "concurrency_limit_invalid"} <= codes
    assert [code for code in sorted(codes) if f"`{code}`" not in PAGES["queues"]] == []


@pytest.mark.parametrize("report", ["users", "groups"])
@pytest.mark.parametrize("spec_names", [False, True])
def test_every_key_of_a_usage_report_is_documented(report, spec_names):
    command = f"usage {report} --pool examples/first-pool --bundle policies/limits --json"
    words = [*shlex.split(command), *(["--spec-names"] if spec_names else [])]
    entries = json.loads(CliRunner().invoke(main, words).stdout)
    keys = {key for entry in entries for key in entry}
    keys |= {key for entry in entries for key in (*entry["queues"], *entry["queues"]["children"][0])}
    assert "queues" in keys
    documented = {
        word
        for row in tables("queues", ["key", "", "with --spec-names"])
        for word in re.findall(r"\w+", " ".join(row))
    }
    assert keys - documented == set()


class TestThePublishedExamples:
    """The pages describe the two published examples that do not work as printed."""

    def test_without_create_at_its_parent_the_first_sends_sarah_to_the_default_queue(self, tmp_path):
        (example,) = (each for _, each in EXAMPLES if "published" in each.queues)
        lines = [line for line in example.queues.splitlines(keepends=True) if "published" not in line]
        bundle = load_bundle(folder_of(tmp_path, "".join(lines)))
        found = placed(bundle, "sarah", ("sarah", "test_app", "dev_app"), tag="namespace=newapp")
        assert found == ("root.default", ["queue_missing", "filtered", "matched"])

    SECOND = """
partitions:
  - name: default
    queues:
      - name: production
        submitacl: john,bob
    placementrules:
      - name: fixed
        value: root.production
      - name: user
        create: true
"""

    def test_the_second_gives_nobody_else_access_to_any_queue(self, tmp_path):
        bundle = load_bundle(folder_of(tmp_path, self.SECOND))
        assert placed(bundle, "john") == ("root.production", ["matched"])
        assert placed(bundle, "sue") == ("rejected", ["access_denied", "access_denied"])

    def test_with_submit_access_to_its_root_production_is_accessible_too(self, tmp_path):
        queue = "      - name: production\n        submitacl: john,bob\n"
        root = '      - name: root\n        submitacl: "*"\n        queues:\n'
        opened = self.SECOND.replace(queue, root + re.sub("^(?=.)", "    ", queue, flags=re.MULTILINE))
        assert placed(load_bundle(folder_of(tmp_path, opened)), "sue") == ("root.production", ["matched"])


class TestTables:
    """The rows of the pages, one by one."""

    @pytest.mark.parametrize("row", tables("queues", ["list", "user", "groups", "access"]))
    def test_a_list_gives_access_as_in_the_table(self, row):
        text, user, groups, access = row
        assert bool(Acl.parse(text).allows(user, names(groups))) is {"yes": True, "no": False}[access]

    @pytest.mark.parametrize("row", tables("queues", ["who", "groups", "queue", "submits", "administers"]))
    def test_the_first_example_gives_access_as_in_the_table(self, tmp_path, row):
        user, groups, queue, *wanted = row
        bundle = load_bundle(folder_of(tmp_path, next(examples("queues")).queues))
        requested = [
            AccessQuestion(user, names(groups), act, queue)
            for act in (AccessKind.SUBMIT, AccessKind.ADMINISTER)
        ]
        answers, _ = bundle.hooks.access(requested, QueueTree.of(bundle.partition.root, 0), bundle.settings)
        got = ["yes" if each.record.decision is AccessDecision.GRANT else "no" for each in answers]
        assert got == wanted

    @pytest.mark.parametrize("row", tables("queues", ["resource", "written", "is"]))
    def test_an_amount_has_the_value_of_the_table(self, row):
        resource, text, amount = row
        if amount != "refused":
            assert parse_quantity(resource, text) == int(amount)
            return
        with pytest.raises(QuantityError):
            parse_quantity(resource, text)

    @pytest.mark.parametrize(
        ("key", "text"),
        [(row[0], row[2]) for row in tables("queues", ["key", "", "here"]) if "no effect here" in row[2]],
    )
    def test_check_reports_settings_without_effect(self, tmp_path, key, text):
        partition = {
            "preemption": "{enabled: true}",
            "nodesortpolicy": "{type: fair}",
            "statedumpfilepath": "x",
            "usergroupresolver": "{type: os}",
            "limits": "[{users: [sue], maxapplications: 1}]",
        }
        queue = {
            "properties": "{application.sort.policy: fifo}",
            "resources": "{guaranteed: {vcore: 1}, max: {vcore: 2}}",
            "maxapplications": "1",
        }
        queues = f"""
partitions:
  - name: default
    {f"{key}: {partition[key]}" if key in partition else ""}
    queues:
      - name: default
        {f"{key}: {queue[key]}" if key in queue else ""}
"""
        documented = [problem.message for problem in check_bundle(folder_of(tmp_path, queues))]
        expected = text[text.index("no effect here") :].partition(" see")[0]
        assert documented
        assert [message for message in documented if expected not in message] == []


@pytest.mark.parametrize(
    ("command", "output"),
    [
        pair
        for text in PAGES.values()
        for block in re.findall(r"^```console\n((?s:.*?))^```$", text, re.MULTILINE)
        for pair in re.findall(r"^\$ negotiator (.*)\n((?:(?!\$ ).*\n)+)", block, re.MULTILINE)
    ],
)
def test_a_command_prints_the_shown_output(monkeypatch, command, output):
    """Character by character, except an empty line at the end."""
    monkeypatch.chdir(ROOT)
    assert CliRunner().invoke(main, shlex.split(command)).stdout.rstrip("\n") == output.rstrip("\n")


class TestTheDocumentsAreComplete:
    """Keys, codes and other words of the program are documented."""

    def test_every_key_of_the_file(self):
        classes = [
            each for each in vars(written).values() if attrs.has(each) and each.__module__ == written.__name__
        ]
        keys = {field.name for each in classes for field in attrs.fields(each)} - {"source"}
        text = "".join(PAGES.values())
        documented = {key for key in keys if re.search(rf"^\| `{key}`|^\|.*`{key}`", text, re.MULTILINE)}
        assert keys - documented == set()

    def test_every_key_of_placement(self):
        keys = [field.name for field in attrs.fields(PlacementSettings)]
        assert [key for key in keys if not re.search(rf"^  {key}: ", PAGES["queues"], re.MULTILINE)] == []

    def test_every_code_of_a_rule(self):
        codes = set(re.findall(r"``(\w+)``", PlacementStep.__doc__)) - {"code"}
        listed = tables("placement", ["code", "", "and then"])
        assert {code for code, _, _ in listed} == codes
        assert {code for code, _, then in listed if then == "rejected"} == FATAL
        assert NO_RULE_MATCHED in [code for code, _ in tables("placement", ["code", ""])]

    @pytest.mark.parametrize("word", [*QueueState, *AdminAction, *QueueChangeKind])
    def test_every_word_for_states_acts_and_changes(self, word):
        assert re.search(rf"[`*]{word}[`* ]", PAGES["queues"])
