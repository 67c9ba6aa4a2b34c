"""A graph in a folder: snapshots as checksummed, memory-mapped files, and a log of the commits since. The format is
described in docs/FORMAT.md.

    DiskGraph ─ commit ─▶ changes ─▶ log                 a commit is one record, on disk before anyone sees it
        │
        └──── checkpoint ─▶ fold ─▶ snapshot ─▶ manifest  a new snapshot counts from the moment the manifest names it
    open: manifest ─▶ StoredBase (loads what is read, when it is read) ─ replay of the log ─▶ Delta
"""
