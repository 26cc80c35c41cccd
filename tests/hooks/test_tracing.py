"""What --trace-hooks prints of the answers of hooks."""

import pytest

from negotiator.hooks.plugin_watch import describe_answer


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (1, "1 record: int"),
        (10, f"10 records: {', '.join(['int'] * 10)}"),
        (11, f"11 records: {'int, ' * 10}..."),
    ],
)
def test_ten_records_are_named(count, shown):
    assert describe_answer(tuple(range(count))) == shown
