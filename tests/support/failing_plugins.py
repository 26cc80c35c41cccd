"""Plugins whose filter fails beside one that works, and the call of their hook."""

from negotiator.hooks import specs
from negotiator.testing import cycle_record, request, table

SLOTS = table("Cpus = 1\n\nCpus = 2\n\nCpus = 3")

GOOD = """
@hookimpl
def negotiator_filter_slots(slots):
    yield Filter(rule="good", allow=slots.numbers("Cpus") > 1, code="c", text="t")
@hookimpl
def negotiator_job_attributes():
    return []
"""

FILTER = """
@hookimpl
def negotiator_filter_slots(request, slots):
    {body}
"""

RECORD = (
    'yield Filter(**{{"rule": "r", "allow": np.ones(3, bool), "code": "c", "text": "t", {field}: {value}}})'
)


def filter_slots(manager):
    return manager.ask(
        specs.negotiator_filter_slots, request=request(), slots=SLOTS, cycle=cycle_record(), settings={}
    )


def failure_of(plugins, body, **loading):
    """Return the one failure of a plugin ``bad`` beside a valid one, whose answer must be present."""
    plugins.write("bad.py", FILTER.format(body=body))
    plugins.write("good.py", GOOD)
    answers = filter_slots(plugins.load(**loading))
    assert [stamped.plugin for stamped in answers.records] == ["good"]
    assert answers.records[0].record.allow.tolist() == [False, True, True]
    (failure,) = answers.failures
    assert (failure.plugin, failure.hook) == ("bad", "negotiator_filter_slots")
    return failure
