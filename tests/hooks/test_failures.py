"""A plugin that raises: the failure names it, its version, its hook and its line, and other plugins are not affected."""

import logging

import pytest

from failing_plugins import FILTER, failure_of, filter_slots
from negotiator.hooks.interrupts import recording_interrupts
from negotiator.records import Source


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('no such calendar')", "ValueError: no such calendar"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise BaseException('x')", "BaseException: x"),
        (
            "return negotiator_filter_slots(request, slots)",
            "RecursionError: maximum recursion depth exceeded",
        ),
        (
            "yield Filter(rule='first', allow=np.ones(3, bool), code='c', text='t'); 1 / 0",
            "ZeroDivisionError",
        ),
        ("return 1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError('two\\nlines \\x1b[2J')", "ValueError: two lines \N{REPLACEMENT CHARACTER}[2J"),
    ],
)
def test_an_exception_is_a_failure_of_that_plugin_alone(plugins, body, message):
    """Any exception, even one that ends programs, has the plugin's name and does not affect other answers."""
    assert failure_of(plugins, body).message.startswith(message)


def test_a_failure_names_plugin_version_and_hook(plugins):
    """Its text is one line."""
    failure = failure_of(plugins, "raise ValueError('no')")
    expected = f"plugin bad {failure.version}, hook negotiator_filter_slots: ValueError: no"
    assert str(failure) == f"{expected} ({failure.source})"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("return helper()", 9),  # deeper than the hook, above the core's code that it calls
        ("yield helper()", 9),
        ("return 3", 5),  # detected after the function returned: its first line
        ("return [Quota(rule='', text='t')]", 7),
    ],
)
def test_a_failure_names_the_innermost_line_of_the_plugins_own_code(plugins, body, line):
    """Not a line of the core or of a library that the plugin called."""
    own = f"""
        @hookimpl
        def negotiator_filter_slots():
            {body}
        def helper():
            return parse("1 +")
        """
    file = plugins.write("bad.py", own)
    (failure,) = filter_slots(plugins.load()).failures
    assert failure.source == Source(str(file), line)


@pytest.mark.parametrize(
    "body", ["import signal; signal.raise_signal(signal.SIGINT)", "raise KeyboardInterrupt"]
)
def test_keyboard_interrupt_ends_the_program(plugins, body):
    """Ctrl-C is not a failure of a plugin; without the program's handler any KeyboardInterrupt may be one."""
    plugins.write("bad.py", FILTER.format(body=body))
    manager = plugins.load()
    with pytest.raises(KeyboardInterrupt):
        filter_slots(manager)


def test_a_keyboard_interrupt_that_the_user_did_not_press_is_a_failure(plugins):
    with recording_interrupts():
        assert failure_of(plugins, "raise KeyboardInterrupt").message == "KeyboardInterrupt"


def test_ctrl_c_ends_the_program_while_interrupts_are_recorded(plugins):
    plugins.write("bad.py", FILTER.format(body="import signal; signal.raise_signal(signal.SIGINT)"))
    manager = plugins.load()
    with recording_interrupts(), pytest.raises(KeyboardInterrupt):
        filter_slots(manager)


def test_the_text_of_an_error_is_bounded_and_may_fail_itself(plugins):
    """Huge texts are cut, and a failing ``__str__`` is replaced by a message."""
    assert len(failure_of(plugins, "raise ValueError('x' * 10**6)").message) < 400
    body = "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})"
    assert failure_of(plugins, body).message == "Odd: its text can't be read"


def test_the_traceback_goes_to_the_log(plugins, caplog):
    """Records have one line; the traceback is in the log."""
    with caplog.at_level(logging.DEBUG, "negotiator.hooks"):
        failure = failure_of(plugins, "raise ValueError('no')")
    assert "Traceback" in caplog.text
    assert "bad.py" in caplog.text
    assert "Traceback" not in failure.message
