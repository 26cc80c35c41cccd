"""The order in which groups negotiate: ``GROUP_SORT_EXPR`` for each group, ascending."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from negotiator.plugin import Ad, ClassAdValue, Environment, Expr, Table, evaluate_table, parse, unparse_value
from negotiator_fairshare.groups.settings import ROOT_GROUP
from negotiator_fairshare.groups.surplus import GroupAllocation

#: The key of a group for which the expression is not a number: the largest single-precision float.
NOT_A_NUMBER: Final = 3.4028234663852886e38


def order_groups(
    expression: Expr,
    allocations: Mapping[str, GroupAllocation],
    usage: Mapping[str, float],
    *,
    root_last: bool,
    env: Environment | None = None,
) -> Sequence[tuple[str, float]]:
    """Return the groups with their keys in ascending order of keys; equal keys in the order of ``allocations``.

    The expression reads AccountingGroup, GroupQuota, GroupResourcesAllocated and GroupResourcesInUse. Keys are compared in
    single precision, as recorded: 8 / (5 / 3) and 4 / (5 / 6) are equal.

    :param usage: the weight that each group uses now.
    :param root_last: the root comes last whatever its key.
    """
    ads = Table.from_ads(_ad(name, group, usage[name]) for name, group in allocations.items())
    column = evaluate_table(expression, ads, env=env)
    keys = np.array([_key(column.value(row)) for row in range(len(allocations))], np.float64)
    with np.errstate(over="ignore"):
        single = keys.astype(np.float32).tolist()
    ordered = sorted(zip(allocations, keys.tolist(), single, strict=True), key=lambda each: each[2])
    found = ((name, key) for name, key, _ in ordered)
    return sorted(found, key=lambda each: root_last and each[0] == ROOT_GROUP)


def _ad(name: str, group: GroupAllocation, usage: float) -> Ad:
    values: Mapping[str, ClassAdValue] = {
        "AccountingGroup": name,
        "GroupQuota": group.quota,
        "GroupResourcesAllocated": group.allocated,
        "GroupResourcesInUse": usage,
    }
    return Ad([(attribute, parse(unparse_value(value))) for attribute, value in values.items()])


def _key(value: ClassAdValue) -> float:
    key = float(value) if isinstance(value, bool | int | float) else NOT_A_NUMBER
    return NOT_A_NUMBER if math.isnan(key) else key  # NaN has no order
