"""What the authors of plugins test with."""

import pytest

from negotiator.hooks.testkit import PluginFailedError, ads, call, cycle, request, table

GOOD = """
from negotiator.hooks import Filter, hookimpl
@hookimpl
def negotiator_filter_slots(request, slots, settings, cycle):
    yield Filter(rule="r", allow=slots.numbers("Cpus") >= request.ad.integer("RequestCpus"), code="c", text=str(settings))
@hookimpl
def negotiator_job_attributes():
    return ["RequestCpus"]
"""


@pytest.mark.parametrize(
    "text", ['Cpus = 1\nName = "a"\n\n\nCpus = 2\n', '[ Cpus = 1; Name = "a" ]\n[ Cpus = 2 ]']
)
def test_a_table_is_made_of_either_syntax(text):
    """Long form with blank lines between ads, or an ad in brackets a line."""
    assert table(text).numbers("Cpus").tolist() == [1.0, 2.0]
    assert table(text).strings("Name").tolist() == ["a", None]


def test_a_text_that_does_not_parse_is_an_error():
    """A test that is wrong fails where it is wrong."""
    with pytest.raises(ValueError, match="text:2"):
        ads("Cpus = 1\nName = (")


def test_a_file_is_called_through_the_guard(tmp_path):
    """With the arguments that are given, and plain ones for the rest."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "good.py").chmod(0o666)
    slots = table("Cpus = 1\n\nCpus = 4")
    asked = {"slots": slots, "request": request("RequestCpus = 2"), "settings": 5, "cycle": cycle()}
    (answer,) = call(tmp_path / "good.py", "negotiator_filter_slots", **asked)
    assert answer.allow.tolist() == [False, True]
    assert answer.text == "5"
    assert call(str(tmp_path / "good.py"), "negotiator_filter_slots")[0].allow.tolist() == []
    assert call(tmp_path / "good.py", "negotiator_job_attributes") == ("requestcpus",)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def negotiator_filter_slots(): return 3", "expected an iterable of Filter, got int"),
        ("def negotiator_filter_slots(): return 1 / 0", "ZeroDivisionError"),
        ("def negotiator_filter_slots(job): return []", "there is no argument job"),
        ("def negotiator_commands(): return []", "the plugin has no hook negotiator_filter_slots"),
    ],
)
def test_what_the_program_would_report_fails_the_test(tmp_path, source, message):
    """A refusal, an exception and a wrong answer alike."""
    (tmp_path / "bad.py").write_text(f"from negotiator.hooks import hookimpl\n@hookimpl\n{source}\n")
    with pytest.raises(PluginFailedError, match=message):
        call(tmp_path / "bad.py", "negotiator_filter_slots")
