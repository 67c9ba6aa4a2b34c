"""Expressions: precedence, literals, comprehensions, CASE, types."""

from __future__ import annotations

import math

import pytest

from hoplite.grammar import ast
from tests.grammar.reading import expression, first_line


def written(node: ast.Expression) -> str:
    """An expression with all its brackets, to read precedence from."""
    match node:
        case ast.Literal(value=value):
            return repr(value)
        case ast.Variable(name=name):
            return name
        case ast.Unary(operator=operator, operand=operand):
            return f"({operator} {written(operand)})"
        case ast.Binary(operator=operator, left=left, right=right):
            return f"({written(left)} {operator} {written(right)})"
        case ast.Comparison(operands=operands, operators=operators):
            parts = [written(operands[0])]
            for operator, operand in zip(operators, operands[1:], strict=True):
                parts += [operator, written(operand)]
            return f"({' '.join(parts)})"
        case ast.IsNull(operand=operand, negated=negated):
            return f"({written(operand)} IS {'NOT ' if negated else ''}NULL)"
        case ast.Property(subject=subject, key=key):
            return f"{written(subject)}.{key}"
        case ast.Index(subject=subject, index=index):
            return f"{written(subject)}[{written(index)}]"
        case ast.HasLabels(operand=operand):
            return f"({written(operand)}:...)"
        case _:
            return type(node).__name__


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a OR b XOR c AND NOT d", "(a OR (b XOR (c AND (NOT d))))"),
        ("NOT a = b", "(NOT (a = b))"),
        ("NOT NOT a", "(NOT (NOT a))"),
        ("a < b <= c <> d", "(a < b <= c <> d)"),
        ("(a < b) = c", "((a < b) = c)"),
        ("a = b IS NULL", "(a = (b IS NULL))"),
        ("a IN b = c IN d", "((a IN b) = (c IN d))"),
        ("a + b IN c", "((a + b) IN c)"),
        ("a STARTS  with b + c", "(a STARTS WITH (b + c))"),
        ("a =~ b AND c IS NOT NULL", "((a =~ b) AND (c IS NOT NULL))"),
        ("a + b * c - d", "((a + (b * c)) - d)"),
        ("a || b + c", "((a || b) + c)"),
        ("a ^ b ^ c", "((a ^ b) ^ c)"),
        ("-a ^ b", "((- a) ^ b)"),
        ("a - -1", "(a - -1)"),
        ("- -1", "(- -1)"),
        ("-n.x[0].y", "(- n.x[0].y)"),
        ("n:A AND m:B|C", "((n:...) AND (m:...))"),
    ],
)
def test_operators_bind_as_in_neo4j(text: str, expected: str) -> None:
    assert written(expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("TRUE", True),
        ("12", 12),
        ("1_000", 1000),
        ("0x1f", 31),
        ("0o17", 15),
        ("-9223372036854775808", -(2**63)),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1.5E-3", 0.0015),
        ("INFINITY", math.inf),
        ("inf", math.inf),
        (r"'it\'s'", "it's"),
        (r'"a\tb\\c"', "a\tb\\c"),
        (r"'\u00e9\q'", "é\\q"),
        (r"'\\u0041'", r"\u0041"),
    ],
)
def test_literals(text: str, value: object) -> None:
    literal = expression(text)
    assert isinstance(literal, ast.Literal)
    assert literal.value == value
    assert type(literal.value) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9223372036854775808", "integer is too large (line 1, column 8 (offset: 7))"),
        ("1 -9223372036854775808", "integer is too large (line 1, column 11 (offset: 10))"),
        ("1e400", "floating point number is too large (line 1, column 8 (offset: 7))"),
        ("12ab", "invalid literal number (line 1, column 8 (offset: 7))"),
        (
            "-017",
            "The octal integer literal syntax `-017` is no longer supported, please use `-0o17` instead "
            "(line 1, column 8 (offset: 7))",
        ),
    ],
)
def test_numbers_that_are_none(text: str, message: str) -> None:
    assert first_line(f"RETURN {text}") == message


def test_nan_is_a_literal() -> None:
    literal = expression("NaN")
    assert isinstance(literal, ast.Literal)
    assert isinstance(literal.value, float)
    assert math.isnan(literal.value)


def test_parameters_by_word_by_number_and_in_backticks() -> None:
    assert expression("$name") == ast.Parameter("name")
    assert expression("$0") == ast.Parameter("0")
    assert expression("$`a b`") == ast.Parameter("a b")


def test_slices_and_indexes() -> None:
    xs = ast.Variable("xs")
    assert expression("xs[1]") == ast.Index(xs, ast.Literal(1))
    assert expression("xs[1..2]") == ast.Slice(xs, ast.Literal(1), ast.Literal(2))
    assert expression("xs[..-1]") == ast.Slice(xs, None, ast.Literal(-1))
    assert expression("xs[..]") == ast.Slice(xs, None, None)


def test_square_brackets_are_lists_or_comprehensions() -> None:
    x, xs = ast.Variable("x"), ast.Variable("xs")
    assert expression("[x IN xs]") == ast.ListComprehension(x, xs, None, None)
    assert isinstance(expression("[x IN xs, 1]"), ast.ListLiteral)
    filtered = expression("[x IN xs WHERE x:A|B | x.name]")
    assert isinstance(filtered, ast.ListComprehension)
    assert filtered.predicate == ast.HasLabels(x, ast.LabelOr((ast.LabelName("A"), ast.LabelName("B"))))
    assert filtered.result == ast.Property(x, "name")
    labelled = expression("[x IN xs | x:A|B]")
    assert isinstance(labelled, ast.ListComprehension)
    assert isinstance(labelled.result, ast.HasLabels)
    typed = expression("[x IN xs WHERE x :: INT | x]")
    assert isinstance(typed, ast.ListComprehension)
    assert typed.result == x


def test_pattern_comprehension() -> None:
    node = expression("[p = (a)-->(b:B) WHERE b.x > 1 | p]")
    assert isinstance(node, ast.PatternComprehension)
    assert node.path_variable == ast.Variable("p")
    assert len(node.pattern.elements) == 3
    assert node.result == ast.Variable("p")
    assert isinstance(expression("[(a)-->(b)]"), ast.ListLiteral)


def test_round_brackets_are_expressions_or_patterns() -> None:
    assert isinstance(expression("(a)-[:R]->(b)"), ast.PatternExpression)
    assert isinstance(expression("(a)--(b)"), ast.PatternExpression)
    assert isinstance(expression("(a)<--()"), ast.PatternExpression)
    assert written(expression("(a)-(b)")) == "(a - b)"
    assert written(expression("(a)--1")) == "(a - -1)"
    assert written(expression("(a) < -b")) == "(a < (- b))"
    assert isinstance(expression("((a)-->(b))"), ast.PatternExpression)


def test_quantifiers_and_reduce() -> None:
    x, xs = ast.Variable("x"), ast.Variable("xs")
    assert expression("NONE(x IN xs WHERE x)") == ast.Quantifier("none", x, xs, x)
    assert expression("reduce(s = 0, x IN xs | s + x)") == ast.Reduce(
        ast.Variable("s"), ast.Literal(0), x, xs, ast.Binary("+", ast.Variable("s"), x)
    )


def test_case_in_all_its_forms() -> None:
    searched = expression("CASE WHEN a THEN 1 END")
    assert searched == ast.Case(None, (ast.CaseWhen((ast.Variable("a"),), ast.Literal(1)),), None)
    simple = expression("CASE x WHEN 1, 2 THEN 'a' WHEN > 3 THEN 'b' WHEN IS NULL THEN 'c' ELSE 'd' END")
    assert isinstance(simple, ast.Case)
    subject = ast.CaseSubject()
    assert [when.conditions for when in simple.whens] == [
        (ast.Literal(1), ast.Literal(2)),
        (ast.Comparison((subject, ast.Literal(3)), (">",)),),
        (ast.IsNull(subject, False),),
    ]
    assert simple.default == ast.Literal("d")


def test_functions_keep_their_written_name() -> None:
    call = expression("apoc.text.Join(DISTINCT xs, ',')")
    assert call == ast.FunctionCall("apoc.text.Join", (ast.Variable("xs"), ast.Literal(",")), True)
    assert expression("COUNT ( * )") == ast.CountStar()
    assert expression("date.truncate('day', d)") == ast.FunctionCall(
        "date.truncate", (ast.Literal("day"), ast.Variable("d"))
    )


def test_functions_with_words_among_their_arguments() -> None:
    s = ast.Variable("s")
    assert expression("trim(s)") == ast.FunctionCall("trim", (s,))
    assert expression("trim(LEADING 'x' FROM s)") == ast.FunctionCall(
        "trim", (ast.Literal("LEADING"), ast.Literal("x"), s)
    )
    assert expression("trim(FROM s)") == expression("trim(BOTH FROM s)") == ast.FunctionCall("trim", (s,))
    assert expression("normalize(s, nfd)") == ast.FunctionCall("normalize", (s, ast.Literal("NFD")))
    assert first_line("RETURN normalize('a', 'NFC')").startswith("Invalid normal form")


def test_map_projection() -> None:
    node = expression("n {.a, .*, b, c: 1}")
    assert node == ast.MapProjection(
        ast.Variable("n"),
        (
            ast.ProjectedProperty("a"),
            ast.AllProperties(),
            ast.ProjectedVariable(ast.Variable("b")),
            ast.ProjectedEntry("c", ast.Literal(1)),
        ),
    )


def test_subquery_expressions() -> None:
    short = expression("EXISTS { (a)-->(b) WHERE b.x = 1 }")
    assert isinstance(short, ast.SubqueryExpression)
    assert isinstance(short.query, ast.SingleQuery)
    assert isinstance(short.query.clauses[0], ast.MatchClause)
    union = expression("COUNT { RETURN 1 AS x UNION RETURN 2 AS x }")
    assert isinstance(union, ast.SubqueryExpression)
    assert isinstance(union.query, ast.Union)
    assert isinstance(expression("count {.a}"), ast.MapProjection)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INT", ast.TypeName("INTEGER")),
        ("signed integer NOT NULL", ast.TypeName("INTEGER", (), True)),
        ("TIMESTAMP WITH TIME ZONE", ast.TypeName("ZONED DATETIME")),
        ("LIST<STRING!>", ast.TypeName("LIST", (ast.TypeName("STRING", (), True),))),
        ("BOOL LIST", ast.TypeName("LIST", (ast.TypeName("BOOLEAN"),))),
        ("ANY<INT | FLOAT>", ast.TypeName("UNION", (ast.TypeName("INTEGER"), ast.TypeName("FLOAT")))),
        ("INT | FLOAT", ast.TypeName("UNION", (ast.TypeName("INTEGER"), ast.TypeName("FLOAT")))),
        ("ANY PROPERTY VALUE", ast.TypeName("PROPERTY VALUE")),
    ],
)
def test_types(text: str, expected: ast.TypeName) -> None:
    x = ast.Variable("x")
    assert expression(f"x IS :: {text}") == ast.IsType(x, expected, False)
    assert expression(f"x IS NOT TYPED {text}") == ast.IsType(x, expected, True)


def test_normalized() -> None:
    x = ast.Variable("x")
    assert expression("x IS NORMALIZED") == ast.IsNormalized(x, "NFC", False)
    assert expression("x IS NOT nfkd NORMALIZED") == ast.IsNormalized(x, "NFKD", True)


def test_spans_are_offsets_of_the_original_text() -> None:
    node = expression(r"'\u0041' + n.name")
    assert isinstance(node, ast.Binary)
    assert node.operator_span == ast.Span(16, 17)
    assert node.right.span == ast.Span(18, 24)
    assert isinstance(node.right, ast.Property)
    assert node.right.key_span == ast.Span(20, 24)
