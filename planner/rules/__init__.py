"""Rewrite rules: one file each, a function from plan to plan. Their order is in `hoplite.planner.optimise.RULES`."""
