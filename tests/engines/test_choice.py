"""The text that names an engine."""

import pytest

from negotiator.engines.choice import EngineChoice, EngineKind, InvalidEngineError


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("local", EngineChoice()),
        ("processes:2", EngineChoice(EngineKind.PROCESSES, 2)),
        ("processes: 2", EngineChoice(EngineKind.PROCESSES, 2)),
        (
            "dask:tcp://127.0.0.1:8786",
            EngineChoice(EngineKind.DASK, address="tcp://127.0.0.1:8786"),
        ),
        ("dask:tls://[::1]:8786", EngineChoice(EngineKind.DASK, address="tls://[::1]:8786")),
        ("dask: cm.example.org:8786", EngineChoice(EngineKind.DASK, address="cm.example.org:8786")),
    ],
)
def test_a_text_names_an_engine_with_its_processes_or_its_scheduler(text, choice):
    assert EngineChoice.parse(text) == choice


@pytest.mark.parametrize(
    "text",
    [
        "",
        "local:1",
        "processes:257",
        "processes:٣",
        "dask",
        "dask:",
        "dask:host",
        "dask:http://host:1",
        "dask:a b:1",
    ],
)
def test_any_other_text_is_refused_with_the_engines_that_there_are(text):
    with pytest.raises(InvalidEngineError, match=r"local, processes:N .* or dask:ADDRESS"):
        EngineChoice.parse(text)
