"""Search indexes: vector and full-text indexes over a base, and what was written since.

An index over a base is immutable, like the base: made of its columns when it is first asked for, or mapped from the
file that a checkpoint wrote. What was written since is in a `Changes` of the delta, which looks again at entities that
were written to and at no others. An answer comes from both: the base's, without what was written to, and the delta's.
"""
