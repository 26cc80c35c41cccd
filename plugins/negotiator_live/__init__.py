"""The negotiator of a live HTCondor pool: speaks to its daemons.

Source: HTCondor's CEDAR protocol (``src/condor_io``), verified against HTCondor 25.14.
"""

from negotiator_live.hooks import negotiator_access as negotiator_access
from negotiator_live.hooks import negotiator_pool_sources as negotiator_pool_sources
from negotiator_live.hooks import negotiator_section as negotiator_section
