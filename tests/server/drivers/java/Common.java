import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import org.neo4j.driver.AuthTokens;
import org.neo4j.driver.Driver;
import org.neo4j.driver.GraphDatabase;
import org.neo4j.driver.TransactionConfig;
import org.neo4j.driver.Value;
import org.neo4j.driver.Values;
import org.neo4j.driver.exceptions.Neo4jException;

/** What every driver must manage against `hoplite serve`; see README.md. Arguments: URI [ROWS] */
public final class Common {
    private static final String LONG =
            "UNWIND range(1, 100000000) AS x WITH x WHERE x % 2 = 3 RETURN count(x) AS n";

    public static void main(String[] arguments) throws Exception {
        long rows = arguments.length > 1 ? Long.parseLong(arguments[1]) : 1_000_000;
        try (var driver = GraphDatabase.driver(arguments[0], AuthTokens.basic("neo4j", "any"))) {
            types(driver);
            transactions(driver);
            failures(driver);
            cancellation(driver);
            streaming(driver, rows);
        }
        System.out.println("java: ok");
    }

    private static void check(boolean ok, String message) {
        if (!ok) {
            throw new AssertionError(message);
        }
    }

    private static Value ask(Driver driver, String query, Value parameters) {
        return driver.executableQuery(query).withParameters(parameters.asMap(v -> (Object) v)).execute()
                .records().get(0).get(0);
    }

    private static void types(Driver driver) {
        var values = List.of(
                Values.NULL, Values.value(true), Values.value(Long.MAX_VALUE), Values.value(Long.MIN_VALUE),
                Values.value(1.5), Values.value(""), Values.value("Grüße 🙂"), Values.value(new byte[] {0, -1}),
                Values.value(List.of(1, "a", List.of(2))), Values.value(Map.of("a", 1, "b", Map.of("c", 2.5))),
                Values.value(LocalDate.of(2024, 2, 29)), Values.value(LocalDate.of(-5000, 1, 1)),
                Values.value(LocalDate.of(999_999_999, 12, 31)), Values.value(LocalTime.of(12, 30, 59, 123_456_789)),
                Values.value(OffsetTime.of(12, 30, 59, 1, ZoneOffset.ofHours(1))),
                Values.value(LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999_999_999)),
                Values.value(ZonedDateTime.of(2024, 7, 1, 12, 0, 0, 0, ZoneOffset.ofHours(2))),
                Values.value(ZonedDateTime.of(2024, 7, 1, 12, 0, 0, 0, ZoneId.of("Europe/Berlin"))),
                Values.isoDuration(14, 3, 14706, 800), Values.point(7203, 1.5, 2.5), Values.point(4979, 1, 2, 3));
        for (var value : values) {
            var back = ask(driver, "RETURN $value AS value", Values.parameters("value", value));
            check(back.equals(value), value + " came back as " + back);
        }
        var record = driver.executableQuery(
                "CREATE p = (a:A {x: 1})-[r:R {y: 2.5}]->(b:C)<-[:S]-(a) RETURN a, r, p").execute().records().get(0);
        check(record.get("a").asNode().hasLabel("A"), "labels");
        check(record.get("r").asRelationship().startNodeElementId().equals(record.get("a").asNode().elementId()), "start");
        check(record.get("p").asPath().length() == 2, "path");
    }

    private static void transactions(Driver driver) {
        try (var session = driver.session()) {
            long before = session.run("MATCH (n:Tx) RETURN count(n)").single().get(0).asLong();
            session.executeWriteWithoutResult(tx -> tx.run("CREATE (:Tx)").consume());
            try (var tx = session.beginTransaction()) {
                tx.run("CREATE (:Tx)").consume();
                tx.rollback();
            }
            long after = session.run("MATCH (n:Tx) RETURN count(n)").single().get(0).asLong();
            check(after == before + 1, "transactions");
            try {
                session.executeRead(tx -> tx.run("CREATE (:Tx)").consume());
                check(false, "a read transaction has written");
            } catch (Neo4jException error) {
                check(error.code().equals("Neo.ClientError.Statement.AccessMode"), error.code());
            }
        }
    }

    private static void failures(Driver driver) {
        var expected = Map.of(
                "RETURN 1 +", "Neo.ClientError.Statement.SyntaxError",
                "RETURN 1 / 0", "Neo.ClientError.Statement.ArithmeticError",
                "RETURN $missing", "Neo.ClientError.Statement.ParameterMissing");
        expected.forEach((query, code) -> {
            try {
                driver.executableQuery(query).execute();
                check(false, query + " has an answer");
            } catch (Neo4jException error) {
                check(error.code().equals(code), error.code());
            }
        });
    }

    private static void cancellation(Driver driver) {
        try (var session = driver.session()) {
            session.run(LONG, TransactionConfig.builder().withTimeout(Duration.ofMillis(300)).build()).consume();
            check(false, "no timeout");
        } catch (Neo4jException error) {
            check(error.code().contains("TransactionTimedOut"), error.code());
        }
        check(ask(driver, "RETURN 1", Values.parameters()).asInt() == 1, "after the timeout");
    }

    private static void streaming(Driver driver, long rows) {
        try (var session = driver.session()) {
            var result = session.run(
                    "UNWIND range(1, $rows) AS x RETURN x, toString(x) AS text", Values.parameters("rows", rows));
            long seen = 0;
            long sum = 0;
            while (result.hasNext()) {
                sum += result.next().get(0).asLong();
                seen++;
            }
            check(seen == rows && sum == rows * (rows + 1) / 2, seen + " rows");
        }
    }
}
