"""For programs whose Cypher a model wrote: schema texts for prompts, queries checked against the graph and repaired,
statements that are judged and bounded, a Model Context Protocol server.

For checks and repairs:

    facts       what the graph has                    reading      what a query says about it, from its syntax tree
    names       how alike two names are               edits        changes of a text, and where they come from
    syntax      texts that do not parse               projections  WHERE after RETURN, GROUP BY and the like
    scope       names that are not in scope           calls        functions of other languages
    patterns    labels, types and directions          properties   keys and values
    repair      all of them, one after the other      problems     what comes out
"""
