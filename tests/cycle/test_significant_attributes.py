"""The job attributes in which the jobs of one request of a live pool must be equal."""

import textwrap

import pytest

from negotiator.bundle import load_bundle
from negotiator.cycle.autoclusters import significant_attributes
from pools import slot, snapshot, write_bundle

IDS = {"clusterid", "procid"}
GATE = """
from negotiator.plugin import hookimpl

@hookimpl
def negotiator_gate_ads(kind, ads):
    return []
"""
DECLARED = """
@hookimpl
def negotiator_gate_attributes():
    return ["Project"]
"""
QUEUES = """
partitions:
  - name: default
    placementrules:
      - name: tag
        value: Namespace
    queues:
      - name: root
"""


@pytest.fixture
def significant(tmp_path):
    """Return a function: the significant attributes for a slot and a bundle that names a live pool."""

    def found(changed=None, pool_yaml="", plugins=None, conf=None, queues=None):
        text = "source: htcondor\n" + textwrap.dedent(pool_yaml)
        folder = tmp_path / "bundle"
        write_bundle(folder, text, plugins, conf)
        if queues:
            (folder / "queues.yaml").write_text(queues)
        return significant_attributes(snapshot([slot(0, **(changed or {}))]).slots, load_bundle(folder))

    return found


def test_jobs_differ_in_what_a_slot_reads_of_them_by_whatever_way(significant):
    """Requirements refer to START, and START to an attribute of the slot that reads the job."""
    found = significant(
        {"Requirements": "START", "Start": "Trusted || TARGET.Age > 5", "Trusted": 'Owner == "ann"'}
    )
    assert {"age", "owner"} <= found


def test_jobs_differ_in_what_the_requirements_of_a_slot_for_the_negotiator_read(significant):
    found = significant({"Requirements": "TARGET.Own == 1", "NegotiatorRequirements": "TARGET.Other == 1"})
    assert "other" in found


def test_jobs_differ_in_what_they_request_of_each_resource_of_a_slot(significant):
    assert {"requestcpus", "requestmemory", "requestdisk", "requestlicenses"} <= significant(
        {"TotalSlotLicenses": "3", "TotalSlotCpus": "1", "TotalSlotMemory": "1"}
    )


def test_jobs_differ_in_what_the_ranks_of_the_pool_read(significant):
    assert "weight" in significant(conf="NEGOTIATOR_PRE_JOB_RANK = TARGET.Weight\n")


def test_jobs_differ_in_what_selects_the_denials_for_the_audit_log(significant):
    assert "verbose" in significant(pool_yaml="audit:\n  denials: MY.Verbose\n")


def test_jobs_differ_in_what_gates_read(significant):
    assert "project" in significant(conf='NEGOTIATOR_JOB_CONSTRAINT = MY.Project =!= "closed"\n')


def test_jobs_differ_in_what_places_them_in_a_queue(significant):
    found = significant(pool_yaml="placement:\n  user: MY.Account\n", queues=QUEUES)
    assert {"account", "namespace", "queue"} <= found


def test_each_job_differs_from_all_others_if_a_plugin_does_not_declare_what_its_gate_reads(significant):
    assert significant(plugins={"gate": GATE}) >= IDS


def test_a_plugin_that_declares_what_its_gate_reads_leaves_jobs_alike(significant):
    found = significant(plugins={"gate": GATE + DECLARED})
    assert "project" in found
    assert not found & IDS


def test_each_job_differs_from_all_others_if_a_slot_may_read_any_attribute(significant):
    assert significant({"Requirements": "eval(Name)"}) >= IDS
