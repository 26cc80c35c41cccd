"""Defaults that the help of commands shows; this module imports next to nothing, so that help is quick."""

from pathlib import Path

#: The state folder of administrators' commands.
DEFAULT_STATE = Path("var/state")
#: Seconds after which a database that does not answer is given up, and a leader that is silent loses a shared state.
STATE_TIMEOUT = 30.0
#: The longest note of an administrator in the audit log, in characters.
MAX_NOTE = 500
#: How long changed files of a bundle must stay unchanged before a running negotiator reads them, in seconds.
STABLE_SECONDS = 5.0

#: Which cycles are recorded, and how many megabytes and days of them are kept.
ALL_CYCLES = "all"
FAILED_CYCLES = "failures"
RECORD_MEGABYTES = 1_000
RECORD_DAYS = 30.0
#: The engine that decides cycles: the process of the command alone.
LOCAL_ENGINE = "local"
#: The file in the folder of a state with the ads of a live pool, as the last cycle read them.
SAVED_POOL = "pool.snapshot.gz"
#: The static configuration of the service, which is read if it exists.
SERVICE_FILE = Path("/etc/negotiator/negotiator.yaml")
#: The keys of that file which are options of ``negotiator serve``; the others are given as ``--set KEY=VALUE``.
OPTION_KEYS = (
    *("bundle", "plugins_dir", "disable", "pool", "every", "watch", "state", "state_database"),
    *("audit_log", "key_file", "log_format", "log_level"),
)
#: Where the service answers HTTP requests: this host alone.
WEB_HOST = "127.0.0.1"
WEB_PORT = 9080
