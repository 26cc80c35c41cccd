"""The rest of a request whose first jobs are served."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import Ad
from negotiator.plugin import QueuedRequest, Request

COUNTS = st.lists(st.integers(1, 3), min_size=1, max_size=4)


def queued_of(counts):
    """Return a request of ads that stand for so many jobs each, in an order other than that of the table."""
    ads = np.arange(len(counts), dtype=np.intp)[::-1].copy()
    rows = np.repeat(ads, counts)
    names = tuple(f"#{number}" for number in range(len(rows)))
    request = Request("sue@d", "", Ad(), len(rows) + 2, "1.0", applications=names)
    return QueuedRequest(0, request, rows, len(rows), ads)


@given(COUNTS, st.data())
def test_the_rest_has_the_jobs_that_are_not_served(counts, data):
    """An ad that stands for several jobs is left as long as one of them is; jobs beyond the rows are counted."""
    queued = queued_of(counts)
    places = range(len(queued.rows))
    served = sorted(data.draw(st.sets(st.sampled_from(places))))
    left = [place for place in places if place not in served]
    rest = queued.without(np.array(served, np.intp), 1)
    if not left:
        assert rest is None
        return
    rows = queued.rows[left].tolist()
    assert rest.rows.tolist() == rows
    assert rest.ads.tolist() == [ad for ad in queued.ads.tolist() if ad in rows]
    assert rest.request.applications == tuple(f"#{place}" for place in left)
    assert rest.request.count == queued.request.count - len(served)
