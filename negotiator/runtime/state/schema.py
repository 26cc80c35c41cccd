"""The tables of the state, and how texts are stored in them."""

from __future__ import annotations

from typing import Final

#: Raised with each change of the tables; the program reads no other version.
VERSION: Final = 9

TABLES: Final = """
CREATE TABLE last_scan (time REAL) STRICT;
CREATE TABLE queues (path TEXT PRIMARY KEY, queue TEXT) STRICT;
CREATE TABLE applications (
    schedd TEXT, user TEXT, cluster INTEGER, queue TEXT, group_name TEXT, last_seen REAL,
    PRIMARY KEY (schedd, user, cluster)
) STRICT, WITHOUT ROWID;
CREATE TABLE holds (
    schedd TEXT, user TEXT, cluster INTEGER, held_by TEXT, held_at REAL, note TEXT, PRIMARY KEY (schedd, user, cluster)
) STRICT, WITHOUT ROWID;
CREATE TABLE matches (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, entry TEXT, made REAL, claim TEXT
) STRICT;
CREATE INDEX matches_by_key ON matches (key);
CREATE TABLE order_rows (
    order_name TEXT, key TEXT, row TEXT, PRIMARY KEY (order_name, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE admin_requests (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time REAL, user TEXT, groups TEXT, action TEXT, application TEXT, queue TEXT,
    note TEXT, order_name TEXT, change TEXT, done INTEGER DEFAULT 0, ok INTEGER, answer TEXT
) STRICT;
CREATE INDEX admin_requests_by_done ON admin_requests (done, number);
CREATE TABLE row_counts (name TEXT PRIMARY KEY, number INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE audit_mark (head TEXT, last_match TEXT, files TEXT) STRICT;
CREATE TABLE bundle (folder TEXT, digest TEXT) STRICT;
CREATE TABLE journal_time (
    time REAL, wall REAL, uptime REAL, boot TEXT, anchor_time REAL, anchor_wall REAL, anchor_pool REAL
) STRICT;
"""


def encode(text: str) -> bytes:
    """Return a text as bytes, which the SQL statements cast: names come from ads, and need not be UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def decode(raw: bytes) -> str:
    """Return the text of a stored value."""
    return raw.decode("utf-8", "surrogatepass")
