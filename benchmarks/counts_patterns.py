"""The nine patterns of LSQB, as Cypher for engines that speak it and as SQL over tables of starts (a) and ends (b).

SQL sees one table for each (label, type, label), such as comment_reply_of_post; for each type with several of these one
with all of them, such as has_tag; and knows, with both directions of every relationship.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is counted."""

    title: str
    cypher: str
    sql: str


_REPLIES = (
    "MATCH (t1:Tag)<-[:HAS_TAG]-(m:Message)<-[:REPLY_OF]-(c:Comment)-[:HAS_TAG]->(t2:Tag) WHERE {} t1 <> t2 "
    "RETURN count(*) AS count"
)
_REPLIES_SQL = (
    "SELECT count(*) FROM has_tag x JOIN reply_of r ON r.b = x.a JOIN comment_has_tag_tag y ON y.a = r.a "
    "WHERE x.b <> y.b"
)
_FRIENDS = (
    "MATCH (p:Person)-[:KNOWS]-(q:Person)-[:KNOWS]-(r:Person)-[:HAS_INTEREST]->(t:Tag) WHERE {} p <> r "
    "RETURN count(*) AS count"
)
_FRIENDS_SQL = (
    "SELECT count(*) FROM knows x JOIN knows y ON y.a = x.b AND y.b <> x.a JOIN person_has_interest_tag i ON i.a = y.b"
)

PATTERNS = {
    "q1": Pattern(
        "a chain of seven",
        "MATCH (:Country)<-[:IS_PART_OF]-(:City)<-[:IS_LOCATED_IN]-(:Person)<-[:HAS_MEMBER]-(:Forum)"
        "-[:CONTAINER_OF]->(:Post)<-[:REPLY_OF]-(:Comment)-[:HAS_TAG]->(:Tag)-[:HAS_TYPE]->(:TagClass) "
        "RETURN count(*) AS count",
        "SELECT count(*) FROM city_is_part_of_country part JOIN person_is_located_in_city home ON home.b = part.a "
        "JOIN forum_has_member_person member ON member.b = home.a JOIN forum_container_of_post held "
        "ON held.a = member.a JOIN comment_reply_of_post reply ON reply.b = held.b JOIN comment_has_tag_tag tagged "
        "ON tagged.a = reply.a JOIN tag_has_type_tagclass kind ON kind.a = tagged.b",
    ),
    "q2": Pattern(
        "a cycle of four",
        "MATCH (p:Person)-[:KNOWS]-(q:Person), (p)<-[:HAS_CREATOR]-(c:Comment)-[:REPLY_OF]->(o:Post)"
        "-[:HAS_CREATOR]->(q) RETURN count(*) AS count",
        "SELECT count(*) FROM knows k JOIN comment_has_creator_person c ON c.b = k.a JOIN comment_reply_of_post r "
        "ON r.a = c.a JOIN post_has_creator_person o ON o.a = r.b AND o.b = k.b",
    ),
    "q3": Pattern(
        "triangles in a country",
        "MATCH (l:Country) MATCH (p:Person)-[:IS_LOCATED_IN]->(:City)-[:IS_PART_OF]->(l) "
        "MATCH (q:Person)-[:IS_LOCATED_IN]->(:City)-[:IS_PART_OF]->(l) "
        "MATCH (r:Person)-[:IS_LOCATED_IN]->(:City)-[:IS_PART_OF]->(l) "
        "MATCH (p)-[:KNOWS]-(q)-[:KNOWS]-(r)-[:KNOWS]-(p) RETURN count(*) AS count",
        "WITH home AS (SELECT x.a AS p, y.b AS l FROM person_is_located_in_city x JOIN city_is_part_of_country y "
        "ON y.a = x.b) SELECT count(*) FROM knows x JOIN knows y ON y.a = x.b JOIN knows z ON z.a = y.b AND z.b = x.a "
        "JOIN home u ON u.p = x.a JOIN home v ON v.p = y.a AND v.l = u.l JOIN home w ON w.p = z.a AND w.l = u.l",
    ),
    "q4": Pattern(
        "a star of four",
        "MATCH (:Tag)<-[:HAS_TAG]-(m:Message)-[:HAS_CREATOR]->(:Person), (m)<-[:LIKES]-(:Person), "
        "(m)<-[:REPLY_OF]-(:Comment) RETURN count(*) AS count",
        "SELECT count(*) FROM has_tag t JOIN has_creator c ON c.a = t.a JOIN likes l ON l.b = t.a "
        "JOIN reply_of r ON r.b = t.a",
    ),
    "q5": Pattern("a chain whose ends differ", _REPLIES.format(""), _REPLIES_SQL),
    "q6": Pattern("friends of friends", _FRIENDS.format(""), _FRIENDS_SQL),
    "q7": Pattern(
        "a star, half of it optional",
        "MATCH (:Tag)<-[:HAS_TAG]-(m:Message)-[:HAS_CREATOR]->(:Person) OPTIONAL MATCH (m)<-[:LIKES]-(:Person) "
        "OPTIONAL MATCH (m)<-[:REPLY_OF]-(:Comment) RETURN count(*) AS count",
        "SELECT count(*) FROM has_tag t JOIN has_creator c ON c.a = t.a LEFT JOIN likes l ON l.b = t.a "
        "LEFT JOIN reply_of r ON r.b = t.a",
    ),
    "q8": Pattern(
        "q5 without some triangles",
        _REPLIES.format("NOT (c)-[:HAS_TAG]->(t1) AND"),
        _REPLIES_SQL + " AND NOT EXISTS (SELECT 1 FROM comment_has_tag_tag z WHERE z.a = r.a AND z.b = x.b)",
    ),
    "q9": Pattern(
        "q6 without triangles",
        _FRIENDS.format("NOT (p)-[:KNOWS]-(r) AND"),
        _FRIENDS_SQL + " WHERE NOT EXISTS (SELECT 1 FROM knows z WHERE z.a = x.a AND z.b = y.b)",
    ),
}
SMALL = ("q3", "q6", "q9")
"""Those that need persons, their homes, friends and interests alone."""
