"""Cypher text in, syntax trees out: `parse.parse(text)` returns a `statement.Statement` or raises a `CypherError`.

cypher.lark defines the language; tokens.py splits the text and says what each token may be; table.py reads the parse
table; parse.py runs it; the build modules turn what it finds into the classes of ast.py, leaves.py and statement.py;
syntax_errors.py explains what does not fit.
"""
