"""The two real ads, of HTCondor 25.14, that all made ones are varied from."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def template(name: str) -> dict[str, str]:
    """Return the attributes of an ad in long form that comes along (``slot.ad``, ``job.ad``): expressions as text."""
    text = files("negotiator_bench").joinpath(name).read_text("utf-8")
    pairs = (line.partition(" = ") for line in text.splitlines())
    return {name: value for name, _, value in pairs}


def long_form(attributes: dict[str, str]) -> str:
    """Write an ad in long form, each line with its end."""
    return "".join([f"{name} = {value}\n" for name, value in attributes.items()])
