"""A plugin may import its hooks when they are used first (PEP 562): they are found when it is loaded."""

import pytest

from negotiator.hooks import specs
from negotiator.testing import cycle_record, request, table

LAZY = """
def __dir__():
    return sorted({*globals(), "negotiator_filter_slots", "missing"})

def __getattr__(name):
    if name != "negotiator_filter_slots":
        raise AttributeError(name)
    @hookimpl
    def negotiator_filter_slots(slots):
        yield Filter(rule="none", allow=np.zeros(len(slots), bool), code="none", text="none")
    globals()[name] = negotiator_filter_slots
    return negotiator_filter_slots
"""


@pytest.mark.parametrize("isolate", [{}, {"p": 30.0}])
def test_a_hook_that_is_imported_when_it_is_used_is_called(plugins, isolate):
    plugins.write("p.py", LAZY)
    manager = plugins.load(isolate=isolate)
    assert plugins.problems == ()
    slots = table('Name = "a"')
    answers = manager.ask(
        specs.negotiator_filter_slots, request=request(), slots=slots, settings={}, cycle=cycle_record()
    )
    assert [each.record.allow.tolist() for each in answers.records] == [[False]]


def test_a_hook_that_cannot_be_imported_refuses_the_plugin(plugins):
    plugins.write(
        "p.py",
        LAZY.replace("raise AttributeError", "raise (ImportError if name == 'missing' else AttributeError)"),
    )
    (refusal,) = plugins.refusals()
    assert "plugin p can't be loaded: ImportError: missing" in refusal
