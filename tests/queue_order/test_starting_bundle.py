"""The bundle to start from with YuniKorn's queues."""

from pathlib import Path

import pytest

from new_bundles import files, made_of, run

QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: production
            submitacl: john
            resources: {max: {vcore: 4}}
          - name: tests
            submitacl: " testers"
          - name: namespaces
            parent: true
            submitacl: "*"
    placementrules:
      - name: provided
      - name: tag
        value: namespace
        create: true
        parent: {name: fixed, value: root.namespaces}
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_own_queues_are_unchanged_and_their_test_has_what_each_queue_decides():
    read = made_of(queues=QUEUES)
    assert read("queues.yaml") == QUEUES
    test = read("site_test.yaml")
    assert "{Owner: john, Queue: root.production, ClusterId: 3}" in test
    assert "{job: 3.0, verdict: matched, queue: root.production}" in test
    # Five cores of at most four.
    assert "{job: 4.0, verdict: denied, rule: maximum of root.production}" in test
    assert "groups: {alice_testers: [testers]}" in test
    # The tag of a rule.
    assert "{job: 2.0, verdict: matched, queue: root.namespaces.development}" in test


def test_own_queues_in_a_config_map_are_read():
    text = "kind: ConfigMap\ndata:\n  queues.yaml: |\n" + "".join(
        f"    {line}\n" for line in QUEUES.splitlines()
    )
    code, output = run("init", "site", "--from", "yunikorn", *files(configs=text))
    assert code == 0, output
    assert run("queues", "root.production", "--bundle", "site")[0] == 0


def test_errors_in_own_files_are_printed_with_their_lines_and_the_files_stay():
    code, output = run("init", "site", *files(queues=QUEUES.replace("name: tag", "name: tags")))
    assert code == 1
    assert "site/queues.yaml:16:15: error: unknown placement rule tags" in output
    assert "negotiator check site" in output
    assert not Path("site", "site_test.yaml").exists()


def test_a_file_without_partitions_is_refused():
    code, output = run("init", "site", "--from", "yunikorn", *files(own="queues: []\n"))
    assert (code, "own: it has no partitions" in output) == (2, True)
    assert not Path("site").exists()
