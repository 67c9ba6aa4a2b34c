"""For programs whose Cypher a model wrote: schema texts for prompts, statements that are judged and bounded, a Model
Context Protocol server.
"""
