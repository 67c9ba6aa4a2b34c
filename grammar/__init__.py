"""Cypher text in, syntax trees out: `parse.parse(text)` returns a `statement.Statement` or raises a `CypherError`.

cypher.lark is the language; tokens.py cuts the text and says what each token may be; table.py makes and keeps the parse
table; parse.py runs it; the build modules turn what it finds into the classes of ast.py, leaves.py and statement.py;
syntax_errors.py explains what does not fit.
"""
