"""How much is measured: the sizes that the targets speak of, and small ones to see that all of it works."""

from __future__ import annotations

from typing import Final

import attrs


@attrs.frozen
class Plan:
    """Sizes and repetitions. ``judged`` says whether the targets apply: they are for the full sizes."""

    repetitions: int
    matching: tuple[tuple[str, int], ...]  # kinds of slots, and how many of them
    pairs: int  # of a job class and a slot: so many are put to the library, and compared
    best: int  # candidates chosen for each class
    scalar_slots: int
    scalar_loops: int
    columns: int  # ads over which one expression is evaluated
    library_columns: int
    read: int  # ads, by us
    library_read: int  # ads, by the library
    compared: int  # ads whose values are compared
    memory: int  # ads in our table
    library_memory: int
    applications: int  # to be placed
    queues: int  # of a configuration
    charged_slots: int  # of the ledger's admission
    charged_copies: int
    quotas: tuple[tuple[int, int, int], ...]  # hosts, jobs, kinds of jobs; the first has one job of each kind
    cycles: tuple[int, ...]  # slots
    unlike: tuple[int, int]  # slots and job classes of cycles over unlike slots
    hostile_slots: int  # of the pool that hostile ads are added to
    judged: bool
    attacks: tuple[str, ...] | None = None  # by name; None: all


FULL: Final = Plan(
    repetitions=5,
    matching=(
        *(("plain", 1_000), ("plain", 5_000), ("plain", 20_000), ("plain", 100_000)),
        ("mixed", 20_000),
    ),
    pairs=3_000,
    best=100,
    scalar_slots=200,
    scalar_loops=10,
    columns=20_000,
    library_columns=2_000,
    read=10_000,
    library_read=2_000,
    compared=20,
    memory=100_000,
    library_memory=5_000,
    applications=100_000,
    queues=1_000,
    charged_slots=20_000,
    charged_copies=10_000,
    quotas=(
        (400, 4_000, 4_000),
        *((2_500, 12_500, 1_000), (5_000, 25_000, 1_000), (10_000, 50_000, 1_000), (20_000, 100_000, 1_000)),
    ),
    cycles=(1_000, 20_000),
    unlike=(20_000, 500),
    hostile_slots=5_000,
    judged=True,
)

QUICK: Final = Plan(
    repetitions=3,
    matching=(("plain", 100), ("mixed", 100)),
    pairs=300,
    best=10,
    scalar_slots=20,
    scalar_loops=1,
    columns=200,
    library_columns=100,
    read=100,
    library_read=50,
    compared=10,
    memory=500,
    library_memory=1_000,  # fewer may fit into memory that the process holds already
    applications=2_000,
    queues=20,
    charged_slots=200,
    charged_copies=100,
    quotas=((4, 40, 40), (8, 80, 20)),
    cycles=(100,),
    unlike=(50, 10),
    hostile_slots=100,
    judged=False,
    attacks=("contexts", "25 names", "random ads"),
)

#: The size at which the targets of matching are set, and the kind.
JUDGED: Final = ("plain", 20_000)
