"""From a physical plan to operators, one for one; expressions are compiled on the way."""
