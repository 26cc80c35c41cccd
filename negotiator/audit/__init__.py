"""What was decided, on disk, so that it can be shown later that nobody changed it: ``docs/audit.md``."""
