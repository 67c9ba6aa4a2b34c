"""Expressions: an AST goes in, an evaluator from batches to columns comes out (`compile.compile_expression`)."""
