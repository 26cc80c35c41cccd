"""For the tests of plugins: records from text, one hook called as the program calls it, and whole small cycles.

Example::

    def test_a_machine_under_maintenance_gets_no_job():
        slots = 'Machine = "a"'
        result = cycle(slots, jobs="RequestCpus = 1", bundle={"pool.yaml": "calendar: ..."}, plugins=["maintenance.py"])
        assert result.pairs == ()
        assert result.denials[0].codes == {"maintenance"}

``call`` tests one hook with records that ``table``, ``request`` and the others make. With pytest, the fixtures
``negotiator_cycle`` and ``negotiator_call`` are these functions, without an import.
"""

from negotiator.testing.calls import PluginFailedError as PluginFailedError
from negotiator.testing.calls import call as call
from negotiator.testing.calls import load as load
from negotiator.testing.cycles import cycle as cycle
from negotiator.testing.records import ads as ads
from negotiator.testing.records import cycle_record as cycle_record
from negotiator.testing.records import match as match
from negotiator.testing.records import queues as queues
from negotiator.testing.records import request as request
from negotiator.testing.records import rule as rule
from negotiator.testing.records import summary as summary
from negotiator.testing.records import table as table
