"""Output of plugins goes to standard error, also from threads that they start."""

import sys
import threading

from negotiator.hooks import specs
from negotiator.hooks.plugin_output import plugin_output_to_stderr

PRINTS = """
@hookimpl
def negotiator_constraints():
    print("seen")
    return []
"""


def test_only_what_a_plugin_prints_goes_to_standard_error(plugins, capsys):
    plugins.write("p.py", PRINTS)
    manager = plugins.load()
    with plugin_output_to_stderr():
        print("before")  # noqa: T201 - what is tested
        manager.ask(specs.negotiator_constraints, settings={})
        print("after")  # noqa: T201 - what is tested
    assert capsys.readouterr() == ("before\nafter\n", "seen\n")


def test_a_hook_does_not_replace_standard_output(plugins):
    """Output of other threads is unchanged."""
    plugins.write(
        "p.py",
        "import sys\nseen = []\n@hookimpl\ndef negotiator_constraints(settings):\n    settings.append(sys.stdout)\n    return []\n",
    )
    manager, stdout, during = plugins.load(), sys.stdout, []
    manager.ask(specs.negotiator_constraints, settings={"p": during})
    assert during == [stdout]


def test_a_thread_that_a_plugin_starts_prints_to_standard_error(plugins, capsys):
    """Also after the hook has returned, while the program prints its answer."""
    plugins.write(
        "p.py",
        """
        import threading
        @hookimpl
        def negotiator_constraints(settings):
            def later():
                settings.wait()
                print("seen")
            threading.Thread(target=later, name="of a plugin").start()
            return []
        """,
    )
    manager, answered = plugins.load(), threading.Event()
    with plugin_output_to_stderr():
        assert manager.ask(specs.negotiator_constraints, settings={"p": answered}).failures == ()
        print("answer")  # noqa: T201 - what is tested
        answered.set()
        for thread in threading.enumerate():
            if thread.name == "of a plugin":
                thread.join()
    assert capsys.readouterr() == ("answer\n", "seen\n")
