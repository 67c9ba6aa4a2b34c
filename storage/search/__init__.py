"""Search indexes: vector and full-text indexes over a base, and what was written since.

An index over a base is immutable, like the base: built from its columns on first use, or mapped from the file that a
checkpoint wrote. What was written since is in a `Changes` of the delta, which only looks again at entities that were
written to. An answer combines both: the base's, without what was written to, and the delta's.
"""
