"""One whole small cycle in a test, from text."""

import types

import pytest

from negotiator.errors import BundleError
from negotiator.plugin import Filter, hookimpl
from negotiator.testing import cycle


class NoSlots:
    """A plugin that allows no slot."""

    @hookimpl
    def negotiator_job_attributes(self):
        return []

    @hookimpl
    def negotiator_filter_slots(self, slots):
        yield Filter(rule="never", allow=slots.numbers("Cpus") < 0, code="never", text="no slot will do")


def test_a_job_is_matched_with_a_slot_under_the_built_in_bundle():
    result = cycle("Cpus = 4", "RequestCpus = 2")
    assert result.pairs == (("1.0", "slot0@host"),)
    assert result.denials == result.discarded == result.failures == ()


def test_attributes_of_the_ads_are_not_replaced():
    result = cycle(
        'Name = "mine"\nRequirements = TARGET.Owner == "bob"', 'Owner = "bob"\nClusterId = 7\n\nOwner = "eve"'
    )
    assert result.pairs == (("7.0", "mine"),)
    assert [(denial.user, denial.jobs) for denial in result.denials] == [("eve", 1)]


def test_a_plugin_may_be_an_object_a_module_or_a_file(tmp_path):
    module = types.ModuleType("site.night")
    module.negotiator_filter_slots = NoSlots().negotiator_filter_slots
    file = tmp_path / "dusk.py"
    file.write_text(
        "from negotiator.plugin import hookimpl\n@hookimpl\ndef negotiator_filter_slots(): 1 / 0\n"
    )
    for plugin, name, code in (
        (NoSlots(), "NoSlots", "never"),
        (module, "night", "never"),
        (file, "dusk", "plugin_error"),
    ):
        (denial,) = cycle("Cpus = 1", "RequestCpus = 1", plugins=[plugin]).denials
        (reason,) = [each.reason for each in denial.reasons]
        assert (reason.provenance.plugin, reason.code) == (name, code)
    (denial,) = cycle("Cpus = 1", "RequestCpus = 1", plugins={"mine": NoSlots()}).denials
    assert denial.reasons[0].reason.provenance.plugin == "mine"


def test_a_bundle_may_be_a_folder_or_the_texts_of_its_files(tmp_path):
    expression = 'NEGOTIATOR_JOB_CONSTRAINT = Owner == "bob"\n'
    (tmp_path / "site.conf").write_text(expression)
    jobs = 'Owner = "bob"\n\nOwner = "eve"'
    slots = "Cpus = 1\n\nCpus = 1"
    for bundle in (tmp_path, {"site.conf": expression}):
        assert cycle(slots, jobs, bundle).pairs == (("1.0", "slot0@host"),)


def test_a_bundle_with_errors_is_refused():
    with pytest.raises(BundleError, match="nonsense"):
        cycle("", "", {"pool.yaml": "nonsense: 1\n"})


def test_the_fixtures_are_these_functions(negotiator_cycle, negotiator_call):
    """They are part of the distribution, as a plugin of pytest."""
    assert negotiator_cycle("Cpus = 1", "RequestCpus = 1").pairs == (("1.0", "slot0@host"),)
    assert negotiator_call(NoSlots(), "negotiator_job_attributes") == ()


def test_an_observer_gets_the_matches_of_a_cycle_and_its_failure_is_in_the_result():
    seen = []

    class Observer:
        @hookimpl
        def negotiator_matches_made(self, matches):
            seen.extend(match.job for match in matches)
            raise ValueError("disk full")

    result = cycle('Name = "a"', "RequestCpus = 1", plugins=[Observer()])
    assert seen == ["1.0"]
    (failure,) = result.failures
    assert (failure.hook, failure.message) == ("negotiator_matches_made", "ValueError: disk full")
