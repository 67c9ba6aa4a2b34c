"""Which variables an expression takes from outside."""

from hoplite.grammar import ast
from hoplite.planner.variables import free_variables


def v(name: str) -> ast.Variable:
    return ast.Variable(name)


def test_a_comprehension_binds_its_variable_but_not_in_its_source() -> None:
    inner = ast.Binary("+", v("x"), v("y"))
    assert free_variables(ast.ListComprehension(v("x"), v("x"), None, inner)) == {"x", "y"}
    assert free_variables(ast.ListComprehension(v("x"), v("xs"), None, inner)) == {"xs", "y"}


def test_reduce_binds_two_names() -> None:
    step = ast.Binary("+", v("total"), ast.Binary("*", v("x"), v("factor")))
    assert free_variables(ast.Reduce(v("total"), v("start"), v("x"), v("xs"), step)) == {"start", "xs", "factor"}


def test_names_in_patterns_may_come_from_outside() -> None:
    chain = ast.PatternChain(
        (
            ast.NodePattern(v("a")),
            ast.RelationshipPattern(ast.Direction.OUTGOING),
            ast.NodePattern(v("b"), properties=ast.MapLiteral((("k", v("c")),))),
        )
    )
    result = ast.Property(v("p"), "k")
    assert free_variables(ast.PatternComprehension(v("p"), chain, None, result)) == {"a", "b", "c"}


def test_a_subquery_hides_what_it_makes_itself() -> None:
    clauses = (
        ast.UnwindClause(v("list"), v("x")),
        ast.WithClause(ast.Projection((ast.ReturnItem(ast.Binary("+", v("x"), v("outer")), v("y"), "y"),))),
        ast.ReturnClause(ast.Projection((ast.ReturnItem(v("y"), None, "y"),))),
    )
    subquery = ast.SubqueryExpression("EXISTS", ast.SingleQuery(clauses))
    assert free_variables(subquery) == {"list", "outer"}


def test_a_call_takes_only_its_imports() -> None:
    body = ast.SingleQuery((ast.ReturnClause(ast.Projection((ast.ReturnItem(v("a"), v("b"), "b"),))),))
    call = ast.CallSubquery(body, imports=(v("a"),))
    after = ast.ReturnClause(ast.Projection((ast.ReturnItem(v("b"), None, "b"),)))
    assert free_variables(ast.SubqueryExpression("COLLECT", ast.SingleQuery((call, after)))) == {"a"}
