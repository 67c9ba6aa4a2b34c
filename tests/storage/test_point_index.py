"""A POINT index brings the nodes that a predicate means, whatever was written since it was made."""

from __future__ import annotations

import random

import pytest

import hoplite


def _point(choose: random.Random) -> str:
    flat = f"x: {choose.uniform(-5, 5)}, y: {choose.uniform(-5, 5)}"
    longitude = choose.choice([choose.uniform(-180, 180), 179.9, -179.9, 0.0])
    globe = f"longitude: {longitude}, latitude: {choose.choice([choose.uniform(-90, 90), 89.9, -89.9])}"
    return choose.choice(
        [
            f"point({{{flat}}})",
            f"point({{{globe}}})",
            f"point({{{flat}, z: {choose.uniform(-5, 5)}}})",
            f"point({{{globe}, height: {choose.uniform(0, 1e6)}}})",
            "1",
            f"[point({{{flat}}})]",
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_an_index_of_points_answers_as_without_one(seed: int) -> None:
    choose = random.Random(seed)
    with hoplite.Database() as indexed, hoplite.Database() as plain:
        indexed.run("CREATE POINT INDEX FOR (n:P) ON (n.k)").consume()
        for number in range(60):
            statement = f"CREATE (:P {{i: {number}, k: {_point(choose)}}})"
            if number % 7 == 6:
                statement = f"MATCH (n:P {{i: {choose.randrange(number)}}}) SET n.k = {_point(choose)}"
            for database in (indexed, plain):
                database.run(statement).consume()
            if number == 35:
                indexed.checkpoint()
            radius = choose.choice(["1", "3", "1e5", "5e6", "2e7", "-1", "null", "'a'", "1e400"])
            condition = choose.choice(
                [
                    f"point.distance(n.k, {_point(choose).replace('[', '').replace(']', '')}) < {radius}",
                    f"{radius} >= point.distance(point({{x: 0.5, y: 1}}), n.k)",
                    f"point.withinBBox(n.k, point({{x: {choose.uniform(-5, 5)}, y: -3}}), point({{x: 4, y: 2}}))",
                    "point.withinBBox(n.k, point({longitude: 170, latitude: -80}), point({longitude: 0, latitude: 8}))",
                ]
            )
            text = f"MATCH (n:P) WHERE {condition} RETURN n.i AS i ORDER BY i"
            answers = []
            for database in (indexed, plain):
                try:
                    answers.append(str([record["i"] for record in database.run(text)]))
                except Exception as error:
                    answers.append(str(getattr(error, "code", error)))
            assert answers[0] == answers[1], text
