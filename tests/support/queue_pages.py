"""The pages about queues and placement rules: their pieces, and the configurations in them."""

import re
from pathlib import Path

import attrs

import pools
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("queues", "placement")}
GROUPS = "alice: [physics, astro]\n"


def pieces(text):
    """Yield the blocks of YAML and the tables of a page, and the beginnings of its sections, in their order."""
    form = r"^#{2,3} .*$|^```yaml\n(?P<yaml>(?s:.*?))^```$|^(?P<table>(?:\|.*\n)+)|^```\w*\n(?s:.*?)^```$"
    for hit in re.finditer(form, text, re.MULTILINE):
        if hit["yaml"] is not None or hit["table"] is not None:
            yield ("yaml", hit["yaml"]) if hit["yaml"] is not None else ("table", hit["table"])
        elif hit[0].startswith("#"):
            yield "section", hit[0]


def cells(table):
    """Return the rows of a table, its header first, without backticks."""
    lines = [line for line in table.splitlines() if "| --- |" not in line]
    return [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in lines]


def folder_of(folder, queues, pool=""):
    """Write a bundle with these settings and a file of groups; return its folder."""
    folder.mkdir(exist_ok=True)
    (folder / "queues.yaml").write_text(queues)
    (folder / "pool.yaml").write_text(pool)
    (folder / "groups.yaml").write_text(GROUPS)
    return folder


def names(cell):
    """Return the names in a cell, separated by commas."""
    return tuple(filter(None, (name.strip() for name in cell.split(","))))


def placed(bundle, user, groups=(), queue="", tag=""):
    """Return the result of one job in a cycle: its queue, and the code of each rule."""
    key, _, value = tag.partition("=")
    requested = {"Queue": f'"{queue}"'} if queue else {}
    tags = {key: f'"{value}"'} if key else {}
    job = pools.job(Owner=f'"{user}"', **requested, **tags)
    state = attrs.evolve(CycleState.new(bundle, pools.NOW), groups={user: groups})
    cycle = Cycle(1, pools.NOW, bundle.digest)
    result = run_cycle(pools.snapshot([pools.slot()], [job]), bundle, cycle, state)
    (found,) = result.placements
    assert [match.queue for match in result.matches] == [found.placement.queue] * found.placement.placed
    return found.placement.queue or "rejected", [step.code for step in found.placement.steps]
