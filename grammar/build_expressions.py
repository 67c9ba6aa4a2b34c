"""Builds expressions: each function is named after the grammar rule (or alias) it serves.

Every function takes the source, the span of what was read, and the children that the grammar passes on.
"""

from __future__ import annotations

import math

from hoplite.errors import unsupported
from hoplite.gql_status import UNCLASSIFIED, status
from hoplite.grammar import ast
from hoplite.grammar.ast import Expression, Span
from hoplite.grammar.constants import string_value
from hoplite.grammar.hidden import HIDDEN
from hoplite.grammar.source import Source
from hoplite.grammar.tokens import ConstantToken, Token
from hoplite.lazy import lazy_pattern

# --- names and literals ---------------------------------------------------------------------------------------

_DECIMAL = lazy_pattern(r"0|[1-9](?:_?\d)*+")
_LONG_DECIMAL = lazy_pattern(r"[1-9][\d_]*+")
_HEXADECIMAL = lazy_pattern(r"0[xX](?:_?[0-9a-fA-F])++")
_OCTAL = lazy_pattern(r"0o(?:_?[0-7])*+")  # `0o` alone is 0
_OLD_OCTAL = lazy_pattern(r"0[0-7]+")
_FLOAT = lazy_pattern(r"(?:\d(?:_?\d)*+)?(?:\.\d(?:_?\d)*+)?(?:[eE][+-]?\d(?:_?\d)*+)?[dDfF]?")
_MAX_INTEGER = 2**63 - 1
_MOST_DIGITS = 1000  # and underscores between them: a longer number without leading zeros is too large
_TOO_LARGE = "integer is too large"
_INVALID = "invalid literal number"


def span_of(token: Token) -> Span:
    """The span of a token."""
    return Span(token.start, token.end)


def name_of(token: Token) -> str:
    """The name a token spells, without the backticks."""
    text = token.text
    if HIDDEN in text:
        raise unsupported("a name with the code point U+FFFF")
    return text[1:-1].replace("``", "`") if text[0] == "`" else text


def string_of(token: Token) -> str:
    """The value of a string literal."""
    return string_value(token.text)


def integer_of(source: Source, token: Token) -> int:
    """The value of an integer token; what is wrong with it is noted in the source."""
    text = token.text
    if len(text) > _MOST_DIGITS and _LONG_DECIMAL.fullmatch(text):
        value = _MAX_INTEGER + 2
    elif _DECIMAL.fullmatch(text):
        value = int(text)
    elif _HEXADECIMAL.fullmatch(text):
        value = int(text[2:].replace("_", ""), 16)
    elif _OCTAL.fullmatch(text):
        value = int("0" + text[2:].replace("_", ""), 8)
    elif _OLD_OCTAL.fullmatch(text):
        source.complain(_old_octal(text), token.start)
        return 0
    else:
        source.complain(_INVALID, token.start)
        return 0
    if value > _MAX_INTEGER:
        source.complain(_TOO_LARGE, token.start, status("22003", text))
    return value


def _old_octal(text: str) -> str:
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text)
    return (
        f"The octal integer literal syntax `{text}` is no longer supported, please use `{sign}0o{digits[1:]}` instead"
    )


def number(source: Source, span: Span, token: Token) -> ast.Literal:
    if token.word == "integer":
        return ast.Literal(integer_of(source, token), span)
    text = token.text
    if not _FLOAT.fullmatch(text):
        source.complain(_INVALID, token.start)
        return ast.Literal(0.0, span)
    value = float(text.rstrip("dDfF").replace("_", ""))
    if math.isinf(value):
        source.complain("floating point number is too large", token.start, status("22003", text))
    return ast.Literal(value, span)


def null_literal(source: Source, span: Span, token: Token) -> ast.Literal:
    return ast.Literal(None, span)


def true_literal(source: Source, span: Span, token: Token) -> ast.Literal:
    return ast.Literal(True, span)


def false_literal(source: Source, span: Span, token: Token) -> ast.Literal:
    return ast.Literal(False, span)


def infinity_literal(source: Source, span: Span, token: Token) -> ast.Literal:
    return ast.Literal(math.inf, span)


def nan_literal(source: Source, span: Span, token: Token) -> ast.Literal:
    return ast.Literal(math.nan, span)


def string_literal(source: Source, span: Span, token: Token) -> ast.Literal:
    return ast.Literal(string_of(token), span)


def parameter(source: Source, span: Span, token: Token) -> ast.Parameter:
    name = token.text[1:].strip()
    if name[0] == "`":
        name = name[1:-1].replace("``", "`")
    return ast.Parameter(name, span)


def variable(source: Source, span: Span, token: Token) -> ast.Variable:
    return ast.Variable(name_of(token), span)


def dotted_name(source: Source, span: Span, *parts: Token) -> str:
    return ".".join(map(name_of, parts))


def list_literal(source: Source, span: Span, *items: Expression) -> ast.ListLiteral:
    return ast.ListLiteral(items, span)


def constant_list(source: Source, span: Span, token: ConstantToken) -> ast.ConstantList:
    return ast.ConstantList(token.value, span)


def map_entry(source: Source, span: Span, key: Token, value: Expression) -> tuple[str, Expression]:
    return name_of(key), value


def map_literal(source: Source, span: Span, *entries: tuple[str, Expression]) -> ast.MapLiteral:
    return ast.MapLiteral(entries, span)


# --- operators ------------------------------------------------------------------------------------------------


def parenthesized(source: Source, span: Span, inner: Expression) -> Expression:
    return inner


def binary(source: Source, span: Span, left: Expression, operator: Token, right: Expression) -> ast.Binary:
    return ast.Binary(operator.word, left, right, span, span_of(operator))


def binary_two_words(
    source: Source, span: Span, left: Expression, first: Token, second: Token, right: Expression
) -> ast.Binary:
    operator = f"{first.word} {second.word}"
    return ast.Binary(operator, left, right, span, Span(first.start, second.end))


def unary(source: Source, span: Span, operator: Token, operand: Expression) -> Expression:
    in_parentheses = span.end > operand.span.end
    if operator.word == "-" and isinstance(operand, ast.Literal) and not in_parentheses:
        return _negative(source, span, operand)
    return ast.Unary(operator.word, operand, span)


def unary_negative(source: Source, span: Span, operator: Token, minus: Token, operand: ast.Literal) -> Expression:
    inner = _negative(source, Span(minus.start, operand.span.end), operand)
    return ast.Unary(operator.word, inner, span)


def _negative(source: Source, span: Span, operand: ast.Literal) -> Expression:
    """`-1` is one literal, because the smallest integer cannot be written otherwise."""
    if type(operand.value) not in (int, float):
        return ast.Unary("-", operand, span)
    complaint = source.withdraw(operand.span.start)
    if complaint is not None and operand.value != _MAX_INTEGER + 1:
        is_octal = complaint.startswith("The octal")
        written = "-" + source.between(operand.span)
        message = _old_octal(written) if is_octal else complaint
        cause = status("22003", written) if complaint.endswith("too large") else UNCLASSIFIED
        source.complain(message, span.start, cause)
    assert isinstance(operand.value, (int, float))
    return ast.Literal(-operand.value, span)


def comparison(source: Source, span: Span, *parts: Expression | Token) -> ast.Comparison:
    operands = tuple(part for part in parts if not isinstance(part, Token))
    operators = tuple(part for part in parts if isinstance(part, Token))
    for operator in operators:
        check_operator(source, operator)
    return ast.Comparison(
        operands,
        tuple(operator.word for operator in operators),
        span,
        tuple(map(span_of, operators)),
    )


def check_operator(source: Source, operator: Token) -> None:
    """Complain about `!=`."""
    if operator.word == "!=":
        source.complain(
            "Unknown operation '!=' (you probably meant to use '<>', which is the operator for inequality testing)",
            operator.start,
        )


def is_null(source: Source, span: Span, operand: Expression) -> ast.IsNull:
    return ast.IsNull(operand, False, span)


def is_not_null(source: Source, span: Span, operand: Expression) -> ast.IsNull:
    return ast.IsNull(operand, True, span)


def is_type(source: Source, span: Span, operand: Expression, type: ast.TypeName) -> ast.IsType:
    return ast.IsType(operand, type, False, span)


def is_not_type(source: Source, span: Span, operand: Expression, type: ast.TypeName) -> ast.IsType:
    return ast.IsType(operand, type, True, span)


def is_normalized(source: Source, span: Span, operand: Expression, form: Token | None) -> ast.IsNormalized:
    return ast.IsNormalized(operand, form.word if form else "NFC", False, span)


def is_not_normalized(source: Source, span: Span, operand: Expression, form: Token | None) -> ast.IsNormalized:
    return ast.IsNormalized(operand, form.word if form else "NFC", True, span)


def has_labels(source: Source, span: Span, operand: Expression, labels: ast.LabelExpression) -> ast.HasLabels:
    return ast.HasLabels(operand, labels, span)


def property(source: Source, span: Span, subject: Expression, key: Token) -> ast.Property:
    return ast.Property(subject, name_of(key), span, span_of(key))


def index(source: Source, span: Span, subject: Expression, position: Expression) -> ast.Index:
    return ast.Index(subject, position, span)


def slice(
    source: Source,
    span: Span,
    subject: Expression,
    start: Expression | None,
    end: Expression | None,
) -> ast.Slice:
    return ast.Slice(subject, start, end, span)


# --- functions and their relatives ----------------------------------------------------------------------------


def function_name(source: Source, span: Span, *parts: Token) -> tuple[str, Span]:
    return ".".join(map(name_of, parts)), span


def function_call(
    source: Source,
    span: Span,
    name: tuple[str, Span],
    mode: Token | None,
    *arguments: Expression,
) -> ast.FunctionCall:
    distinct = mode is not None and mode.word == "DISTINCT"
    if name[0].lower() == "normalize" and len(arguments) == 2:
        arguments = (arguments[0], _normal_form(source, arguments[1]))
    return ast.FunctionCall(name[0], arguments, distinct, span, name[1])


def _normal_form(source: Source, argument: Expression) -> Expression:
    """The second argument of normalize() is a bare word."""
    form = source.between(argument.span).upper()
    if not isinstance(argument, ast.Variable) or form not in ("NFC", "NFD", "NFKC", "NFKD"):
        source.complain("Invalid normal form, expected NFC, NFD, NFKC, NFKD", argument.span.start)
        return argument
    return ast.Literal(form, argument.span)


def count_star(source: Source, span: Span, word: Token) -> ast.CountStar:
    return ast.CountStar(span)


def trim(
    source: Source,
    span: Span,
    word: Token,
    side: Token | None,
    character: Expression | None,
    text: Expression,
) -> ast.FunctionCall:
    """`trim(LEADING 'x' FROM s)` is the call trim('LEADING', 'x', s); without a character trim('LEADING', s).

    `trim(FROM s)` and `trim(BOTH FROM s)` are the same as trim(s).
    """
    if character is None and (side is None or side.word == "BOTH"):
        return ast.FunctionCall(name_of(word), (text,), False, span, span_of(word))
    side_name = ast.Literal(side.word if side else "BOTH", span_of(side) if side else span)
    arguments = (side_name, text) if character is None else (side_name, character, text)
    return ast.FunctionCall(name_of(word), arguments, False, span, span_of(word))


def reduce(
    source: Source,
    span: Span,
    accumulator: ast.Variable,
    initial: Expression,
    item: ast.Variable,
    items: Expression,
    step: Expression,
) -> ast.Reduce:
    return ast.Reduce(accumulator, initial, item, items, step, span)


def quantifier(
    source: Source,
    span: Span,
    kind: Token,
    item: ast.Variable,
    items: Expression,
    predicate: Expression | None,
) -> ast.Quantifier:
    return ast.Quantifier(kind.text.lower(), item, items, predicate, span)


def separated(source: Source, span: Span, separator: Token, result: Expression) -> Expression:
    return result


def list_comprehension(
    source: Source,
    span: Span,
    bracket: Token,
    item: ast.Variable,
    items: Expression,
    predicate: Expression | None,
    result: Expression | None,
) -> ast.ListComprehension:
    return ast.ListComprehension(item, items, predicate, result, span)


# --- map projections ------------------------------------------------------------------------------------------


def map_projection(
    source: Source, span: Span, subject: ast.Variable, *items: ast.MapProjectionItem
) -> ast.MapProjection:
    return ast.MapProjection(subject, items, span)


def projected_property(source: Source, span: Span, key: Token) -> ast.ProjectedProperty:
    return ast.ProjectedProperty(name_of(key), span)


def all_properties(source: Source, span: Span) -> ast.AllProperties:
    return ast.AllProperties(span)


def projected_variable(source: Source, span: Span, name: ast.Variable) -> ast.ProjectedVariable:
    return ast.ProjectedVariable(name, span)


def projected_entry(source: Source, span: Span, key: Token, value: Expression) -> ast.ProjectedEntry:
    return ast.ProjectedEntry(name_of(key), value, span)


# --- CASE -----------------------------------------------------------------------------------------------------


def searched_case(source: Source, span: Span, *parts: ast.CaseWhen | Expression | None) -> ast.Case:
    return _case(None, parts, span)


def simple_case(source: Source, span: Span, subject: Expression, *parts: ast.CaseWhen | Expression | None) -> ast.Case:
    return _case(subject, parts, span)


def _case(
    subject: Expression | None,
    parts: tuple[ast.CaseWhen | Expression | None, ...],
    span: Span,
) -> ast.Case:
    whens = tuple(part for part in parts if isinstance(part, ast.CaseWhen))
    default = parts[-1]
    assert not isinstance(default, ast.CaseWhen)
    return ast.Case(subject, whens, default, span)


def searched_when(source: Source, span: Span, condition: Expression, result: Expression) -> ast.CaseWhen:
    return ast.CaseWhen((condition,), result, span)


def simple_when(source: Source, span: Span, *parts: Expression) -> ast.CaseWhen:
    return ast.CaseWhen(parts[:-1], parts[-1], span)


def _subject(span: Span) -> ast.CaseSubject:
    return ast.CaseSubject(Span(span.start, span.start))


def case_comparison(source: Source, span: Span, operator: Token, operand: Expression) -> ast.Comparison:
    check_operator(source, operator)
    return ast.Comparison((_subject(span), operand), (operator.word,), span, (span_of(operator),))


def case_binary(source: Source, span: Span, operator: Token, right: Expression) -> ast.Binary:
    return binary(source, span, _subject(span), operator, right)


def case_binary_two_words(source: Source, span: Span, first: Token, second: Token, right: Expression) -> ast.Binary:
    return binary_two_words(source, span, _subject(span), first, second, right)


def case_is_null(source: Source, span: Span) -> ast.IsNull:
    return ast.IsNull(_subject(span), False, span)


def case_is_not_null(source: Source, span: Span) -> ast.IsNull:
    return ast.IsNull(_subject(span), True, span)


def case_is_type(source: Source, span: Span, type: ast.TypeName) -> ast.IsType:
    return ast.IsType(_subject(span), type, False, span)


def case_is_not_type(source: Source, span: Span, type: ast.TypeName) -> ast.IsType:
    return ast.IsType(_subject(span), type, True, span)


def case_is_normalized(source: Source, span: Span, form: Token | None) -> ast.IsNormalized:
    return is_normalized(source, span, _subject(span), form)


def case_is_not_normalized(source: Source, span: Span, form: Token | None) -> ast.IsNormalized:
    return is_not_normalized(source, span, _subject(span), form)
