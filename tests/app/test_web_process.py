"""The process that answers HTTP requests gets the settings of the service, and shows no password."""

from negotiator.app import web_process
from negotiator.app.service_settings import ServiceSettings
from negotiator.hooks.state_location import DatabaseUrl


def test_a_password_is_in_the_environment_of_the_process_and_not_in_its_command(monkeypatch):
    """Everybody may read the command line of a process, its owner alone the environment."""
    monkeypatch.setenv("NEGOTIATOR_STATE_DATABASE", "postgresql://another")
    url = "postgresql://boss:s3cret@h/d"
    settings = ServiceSettings(state_database=DatabaseUrl(url))
    assert "s3cret" not in " ".join(web_process._command(settings))
    assert web_process._environment(settings)["NEGOTIATOR_STATE_DATABASE"] == url
    assert "NEGOTIATOR_STATE_DATABASE" not in web_process._environment(ServiceSettings())
