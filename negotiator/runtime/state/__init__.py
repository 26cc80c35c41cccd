"""The state that outlives the process: queues, applications, holds, journal and requests of administrators.

It is an SQLite database with a write-ahead log, in a folder of its own: committed transactions survive a crash. One negotiator
at a time holds the lock of the folder; commands may add requests meanwhile.
"""

from negotiator.runtime.state.admin_request_rows import AdminAction as AdminAction
from negotiator.runtime.state.admin_request_rows import AdminAnswer as AdminAnswer
from negotiator.runtime.state.admin_request_rows import AdminRequest as AdminRequest
from negotiator.runtime.state.backup import BackupSummary as BackupSummary
from negotiator.runtime.state.connection import Leader as Leader
from negotiator.runtime.state.cycle_rows import AuditMark as AuditMark
from negotiator.runtime.state.cycle_rows import StateBundle as StateBundle
from negotiator.runtime.state.cycle_rows import StoredState as StoredState
from negotiator.runtime.state.store import SharedRowsChange as SharedRowsChange
from negotiator.runtime.state.store import StateStore as StateStore
