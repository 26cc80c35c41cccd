"""Kubernetes ConfigMaps with a queue configuration, as YuniKorn reads them."""

import pytest

from negotiator.bundle import check_bundle, load_bundle

MANIFEST = """apiVersion: v1
kind: ConfigMap
metadata:
  name: yunikorn-configs
  creationTimestamp: "2026-01-01T00:00:00Z"
data:
  queues.yaml: |
    partitions:
      - name: default
        queues:
          - name: root
            queues:
              - name: batch
"""
QUOTED = """apiVersion: v1
kind: "ConfigMap"
data: {"queues.yaml": "partitions:\\n  - name: default\\n    queues: [{name: root, queues: [{name: batch}]}]\\n"}
"""


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "bundle"
    found.mkdir(mode=0o755)
    return found


def queues(folder):
    """The paths of the configured queues."""
    return [queue.path for queue in load_bundle(folder).partition.root.walk()]


def problems(folder):
    return [str(each) for each in check_bundle(folder)]


@pytest.mark.parametrize("name", ["yunikorn-configs.yaml", "config.yml", "queues.yaml"])
@pytest.mark.parametrize("manifest", [MANIFEST, QUOTED], ids=["block", "quoted"])
def test_the_queues_of_a_config_map_are_those_of_the_bundle(folder, name, manifest):
    """As queues.yaml itself, or as the only queue configuration of the folder."""
    (folder / name).write_text(manifest)
    assert queues(folder) == ["root", "root.batch"]
    assert problems(folder) == []


def test_a_config_map_that_is_mounted_by_kubernetes_is_a_bundle(folder):
    """Its keys are links into a hidden folder, which is replaced as a whole."""
    version = folder / "..2026_01_01"
    version.mkdir()
    (version / "queues.yaml").write_text(
        MANIFEST.partition("queues.yaml: |\n")[2].replace("\n    ", "\n")[4:]
    )
    (folder / "..data").symlink_to(version.name)
    (folder / "queues.yaml").symlink_to("..data/queues.yaml")
    assert queues(folder) == ["root", "root.batch"]


def test_a_problem_has_its_place_in_the_manifest(folder):
    (folder / "cm.yaml").write_text(MANIFEST + "                limit: 3\n")
    (problem,) = check_bundle(folder)
    assert (str(problem.source), problem.message) == (
        "cm.yaml:14:17",
        "partitions[0].queues[0].queues[0]: unknown key 'limit'",
    )
    assert problem.excerpt == "                limit: 3"


def test_a_problem_of_a_quoted_configuration_has_its_place_in_that(folder):
    (folder / "cm.yaml").write_text(QUOTED.replace("name: batch", "nam: batch"))
    assert problems(folder)[0].startswith("queues.yaml in cm.yaml:3:")


def test_other_keys_are_named_in_a_notice(folder):
    (folder / "cm.yaml").write_text(MANIFEST.replace("\ndata:\n", "\ndata:\n  log.level: '0'\n"))
    (problem,) = problems(folder)
    assert problem == "cm.yaml:7:3: notice: only queues.yaml of this ConfigMap is read, not log.level"


def test_a_config_map_beside_queues_yaml_is_not_read(folder):
    (folder / "queues.yaml").write_text(
        "partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]"
    )
    (folder / "cm.yaml").write_text(MANIFEST)
    assert queues(folder) == ["root", "root.a"]
    (problem,) = problems(folder)
    assert "warning: this ConfigMap is not read: the queues are those of queues.yaml" in problem


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: ConfigMap\ndata: {a: b}\n", "error: this ConfigMap has no queues.yaml"),
        ("kind: ConfigMap\n", "error: this ConfigMap has no queues.yaml"),
        ("kind: ConfigMap\ndata: {queues.yaml: [1]}\n", "error: queues.yaml: expected a text"),
    ],
)
def test_a_config_map_in_place_of_queues_yaml_must_have_queues(folder, text, message):
    """A missing configuration is not taken for the default one."""
    (folder / "queues.yaml").write_text(text)
    assert any(message in each for each in problems(folder))


def test_a_config_map_of_another_program_is_no_bundle(folder):
    (folder / "cm.yaml").write_text("kind: ConfigMap\ndata: {a: b}\n")
    assert "not a policy bundle" in problems(folder)[0]


HELM = MANIFEST.replace("apiVersion: v1\nkind: ConfigMap", "image: {tag: 1.6.3}").replace(
    "\ndata:", "\nyunikornDefaults:\n  service.policyGroup: queues"
)


@pytest.mark.parametrize("name", ["values.yaml", "queues.yaml"])
def test_the_values_of_yunikorns_helm_chart_are_read_as_the_config_map_that_helm_makes_of_them(folder, name):
    (folder / name).write_text(HELM)
    assert queues(folder) == ["root", "root.batch"]
    assert [each.partition(": ")[2] for each in problems(folder)] == [
        "notice: only queues.yaml of this ConfigMap is read, not service.policyGroup"
    ]
