"""The answers that are kept of an overview."""

from negotiator.service.overviews import ShownPool


def test_an_answer_is_made_once_until_too_many_bytes_are_kept():
    """A client that writes paths in ever new ways costs time, and no memory."""
    shown, made = ShownPool(overview=None), []

    def make():
        made.append(1)
        return bytes(24 << 20)

    for path in ("a", "a", "b", "b", "c", "c"):
        assert len(shown.answer(path, make)) == 24 << 20
    assert len(made) == 4  # the third path is made each time
