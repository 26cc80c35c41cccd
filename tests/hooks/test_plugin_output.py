"""What plugins print in hooks goes to standard error, whichever thread runs them."""

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
    """Other threads go on printing where they did."""
    plugins.write(
        "p.py",
        "import sys\nseen = []\n@hookimpl\ndef negotiator_constraints(settings):\n    settings.append(sys.stdout)\n    return []\n",
    )
    manager, stdout, during = plugins.load(), sys.stdout, []
    manager.ask(specs.negotiator_constraints, settings={"p": during})
    assert during == [stdout]


def test_another_thread_prints_to_standard_output_meanwhile(plugins, capsys):
    plugins.write(
        "p.py",
        "@hookimpl\ndef negotiator_constraints(settings):\n    settings()\n    print('seen')\n    return []\n",
    )
    manager = plugins.load()

    def while_it_runs():
        thread = threading.Thread(target=lambda: print("other"))  # noqa: T201 - what is tested
        thread.start()
        thread.join()

    with plugin_output_to_stderr():
        assert manager.ask(specs.negotiator_constraints, settings={"p": while_it_runs}).failures == ()
    assert capsys.readouterr() == ("other\n", "seen\n")
