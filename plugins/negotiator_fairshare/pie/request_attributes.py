"""The attributes that the negotiator adds to a request at its turn, for the expressions of slots to read.

Source: HTCondor manual, "Job ClassAd Attributes", SubmitterNegotiatingGroup and SubmitterAutoregroup.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from negotiator.plugin import ClassAd, Request, Value, parse, unparse_value


def with_attributes(request: Request, values: Mapping[str, Value]) -> Request:
    """Return a request whose ad has these attributes, instead of its own of these names."""
    if not values:
        return request
    names = {name.lower() for name in values}
    own = ((name, tree) for name, tree in request.ad.items() if name.lower() not in names)
    added = ((name, parse(unparse_value(value))) for name, value in values.items())
    return attrs.evolve(request, ad=ClassAd([*own, *added]))
