"""From a physical plan to operators that run, one for one; expressions are compiled on the way."""
