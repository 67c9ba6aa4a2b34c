"""Question answering with evidence: names to nodes, a query by a model, its rows, and what they rest on."""
