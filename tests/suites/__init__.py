"""What the runners of recorded suites share: the data, worker processes, reports, lists of known failures."""
