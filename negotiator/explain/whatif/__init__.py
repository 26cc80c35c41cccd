"""Changes the ads of a pool as if they were others: more slots or jobs, fewer, or with other attributes."""

from negotiator.explain.whatif.changed_pool import Values as Values
from negotiator.explain.whatif.changed_pool import fewer_slots as fewer_slots
from negotiator.explain.whatif.changed_pool import more_jobs as more_jobs
from negotiator.explain.whatif.changed_pool import more_slots as more_slots
from negotiator.explain.whatif.changed_pool import selected as selected
from negotiator.explain.whatif.changed_pool import with_values as with_values
