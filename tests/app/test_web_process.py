"""The process that answers HTTP requests gets the settings of the service, and shows no password."""

from pathlib import Path

from negotiator.app import web_process
from negotiator.app.service_settings import ServiceSettings
from negotiator.hooks.state_location import DatabaseUrl


def test_the_settings_of_the_pages_are_on_the_command_line_of_the_process():
    settings = ServiceSettings(
        scheduler_acl="", web_bind_port=0, pool_driver="files", pool=[Path("a"), Path("b")], disable=["c"]
    )
    command = web_process._command(settings)
    assert command[1:6] == ["-m", "negotiator", "serve", "--pages", "--end-with-parent"]
    found = {"--set=scheduler_acl=", "--set=web_bind_port=0", "--pool=a", "--pool=b", "--disable=c"}
    assert found <= {*command}
    assert not [word for word in command if "web_key" in word]


def test_a_password_is_in_the_environment_of_the_process_and_not_in_its_command(monkeypatch):
    """Everybody may read the command line of a process, its owner alone the environment."""
    monkeypatch.setenv("NEGOTIATOR_STATE_DATABASE", "postgresql://another")
    url = "postgresql://boss:s3cret@h/d"
    settings = ServiceSettings(state_database=DatabaseUrl(url))
    assert "s3cret" not in " ".join(web_process._command(settings))
    assert web_process._environment(settings)["NEGOTIATOR_STATE_DATABASE"] == url
    assert "NEGOTIATOR_STATE_DATABASE" not in web_process._environment(ServiceSettings())
