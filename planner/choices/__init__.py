"""Rules from logical to physical plans: small functions, whose order is in `hoplite.planner.choose.CHOICES`."""
