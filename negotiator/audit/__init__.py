"""The decisions of cycles on disk, in a form that shows later changes: ``docs/audit.md``."""
