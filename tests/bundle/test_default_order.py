"""The order, and the live pool, of a bundle that names none."""

import pytest

from negotiator.bundle import load_bundle
from negotiator.errors import BundleError
from pools import write_bundle

SECOND = """
from negotiator.plugin import RequestOrderType, hookimpl

@hookimpl
def negotiator_orders():
    yield RequestOrderType(name="second", make=print, is_default=True)
"""


def test_submitters_share_the_pool_by_default(tmp_path):
    assert write_bundle(tmp_path / "b").ordering.chosen.record.name == "submitters"


def test_names_decide_if_the_key_says_so_or_no_plugin_brings_a_default(tmp_path):
    assert write_bundle(tmp_path / "a", "order: names\n").ordering.chosen is None
    assert write_bundle(tmp_path / "b", "plugins: {disable: [fairshare]}\n").ordering.chosen is None


def test_two_default_orders_are_refused_and_the_key_chooses_one(tmp_path):
    with pytest.raises(BundleError) as caught:
        write_bundle(tmp_path / "a", plugins={"s": SECOND})
    (problem,) = caught.value.problems
    assert problem.message == (
        "several orders are the default: second of plugin s and submitters of plugin fairshare"
    )
    assert problem.hint == "write order: second in pool.yaml, or disable all but one of the plugins"
    (tmp_path / "a" / "pool.yaml").write_text("order: second\nplugins: {folders: [plugins]}\n")
    assert load_bundle(tmp_path / "a").ordering.chosen.record.name == "second"


def test_a_bundle_without_a_source_has_the_only_one_that_is_installed(tmp_path):
    assert write_bundle(tmp_path / "b", "").source.chosen.record.name == "htcondor"


ANOTHER = """
from negotiator.plugin import PoolSource, hookimpl

@hookimpl
def negotiator_pool_sources():
    yield PoolSource("box", open=print)
"""


def test_of_several_sources_the_bundle_has_to_name_one(tmp_path):
    assert write_bundle(tmp_path / "b", "", plugins={"box": ANOTHER}).source.chosen is None
    named = write_bundle(tmp_path / "c", "source: box\n", plugins={"box": ANOTHER})
    assert named.source.chosen.record.name == "box"
