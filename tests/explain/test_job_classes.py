"""Which attribute makes many classes of alike jobs, and what reads it."""

import pytest

from negotiator.explain.job_classes import split_classes
from pools import job, slot, snapshot, write_bundle

MANY = 240


def jobs(count=MANY, **own):
    """Return jobs that differ in Colour, and have one of four amounts of memory."""
    return [job(number, Colour=str(number), RequestMemory=str(number % 4), **own) for number in range(count)]


def test_the_attribute_is_named_with_the_policy_that_reads_it_and_its_line(tmp_path):
    policy = "policies:\n  - {name: bright, applies_to: match, expression: MY.Colour > 3}\n"
    bundle = write_bundle(tmp_path / "b", policy)
    slots = [slot(0, Requirements="TARGET.RequestMemory < 9")]
    found = split_classes(snapshot(slots, jobs()), bundle)
    assert (found.jobs, found.classes, found.attribute, found.without) == (MANY, MANY, "Colour", 4)
    assert found.readers == ("bright (pool.yaml:2:51)",)


def test_slots_jobs_and_plugins_that_read_it_are_named(tmp_path):
    plugin = "from negotiator.plugin import hookimpl\n\n@hookimpl\ndef negotiator_job_attributes():\n    return ['Colour']\n"
    bundle = write_bundle(tmp_path / "b", plugins={"paint": plugin})
    slots = [slot(0, Requirements="MY.Start", START="TARGET.Colour > 1")]
    found = split_classes(snapshot(slots, jobs(Requirements="MY.Colour =!= 7")), bundle)
    assert found.readers == ("plugin paint", "START of slots", "Requirements of jobs")


@pytest.mark.parametrize(
    ("count", "requirements"), [(100, "TARGET.Colour > 3"), (MANY, "TARGET.RequestMemory < 9")]
)
def test_nothing_is_said_of_few_classes(tmp_path, count, requirements):
    """Colour differs, but nothing reads it."""
    pool = snapshot([slot(0, Requirements=requirements)], jobs(count))
    assert split_classes(pool, write_bundle(tmp_path / "b", "")) is None


def test_no_attribute_is_named_if_two_make_the_classes_together(tmp_path):
    """Each would make them without the other."""
    own = [job(number, Colour=str(number), Shape=str(number)) for number in range(MANY)]
    pool = snapshot([slot(0, Requirements="TARGET.Colour + TARGET.Shape > 3")], own)
    assert split_classes(pool, write_bundle(tmp_path / "b", "")) is None


def test_an_expression_that_may_read_any_attribute_makes_each_job_a_class(tmp_path):
    own = jobs(Requirements='eval("Colour") > 0')
    found = split_classes(snapshot([slot(0)], own), write_bundle(tmp_path / "b", ""))
    assert (found.classes, found.attribute, found.without, found.readers) == (MANY, "", 0, ())


def test_running_jobs_do_not_count(tmp_path):
    pool = snapshot([slot(0, Requirements="TARGET.Colour > 3")], jobs(JobStatus="2"))
    assert split_classes(pool, write_bundle(tmp_path / "b", "")) is None
