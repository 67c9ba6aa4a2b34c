// What every driver must manage against `hoplite serve`; see README.md. Run by: go run . URI [ROWS]
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
)

const long = "UNWIND range(1, 100000000) AS x WITH x WHERE x % 2 = 3 RETURN count(x) AS n"

func check(ok bool, format string, values ...any) {
	if !ok {
		fmt.Fprintf(os.Stderr, format+"\n", values...)
		os.Exit(1)
	}
}

func ask(ctx context.Context, driver neo4j.DriverWithContext, query string, parameters map[string]any) []*neo4j.Record {
	result, err := neo4j.ExecuteQuery(ctx, driver, query, parameters, neo4j.EagerResultTransformer)
	check(err == nil, "%s: %v", query, err)
	return result.Records
}

func code(err error) string {
	var failure *neo4j.Neo4jError
	if errors.As(err, &failure) {
		return failure.Code
	}
	return fmt.Sprint(err)
}

func types(ctx context.Context, driver neo4j.DriverWithContext) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	check(err == nil, "%v", err)
	values := []any{
		nil, true, int64(1) << 62, int64(-1) << 63, 1.5, "", "Grüße 🙂", []byte{0, 255},
		[]any{int64(1), "a", []any{nil}}, map[string]any{"a": int64(1), "b": map[string]any{"c": []any{2.5}}},
		neo4j.DateOf(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)),
		neo4j.LocalDateTimeOf(time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC)),
		neo4j.DurationOf(14, 3, 14706, 800),
		neo4j.Point2D{X: 1.5, Y: 2.5, SpatialRefId: 7203}, neo4j.Point3D{X: 1, Y: 2, Z: 3, SpatialRefId: 4979},
	}
	for _, value := range values {
		back := ask(ctx, driver, "RETURN $value AS value", map[string]any{"value": value})[0].Values[0]
		check(fmt.Sprint(back) == fmt.Sprint(value), "%v came back as %v", value, back)
		check(reflect.TypeOf(back) == reflect.TypeOf(value), "%T came back as %T", value, back)
	}
	moment := time.Date(2024, 7, 1, 12, 0, 0, 5, berlin)
	back := ask(ctx, driver, "RETURN $value AS value", map[string]any{"value": moment})[0].Values[0].(time.Time)
	check(back.Equal(moment) && back.Location().String() == "Europe/Berlin", "%v came back as %v", moment, back)
	record := ask(ctx, driver, "CREATE p = (a:A {x: 1})-[r:R {y: 2.5}]->(b:C)<-[:S]-(a) RETURN a, r, p", nil)[0]
	node, relationship, path := record.Values[0].(neo4j.Node), record.Values[1].(neo4j.Relationship), record.Values[2].(neo4j.Path)
	check(node.Labels[0] == "A" && node.Props["x"] == int64(1), "node %v", node)
	check(relationship.StartElementId == node.ElementId && relationship.Type == "R", "relationship %v", relationship)
	check(len(path.Relationships) == 2, "path %v", path)
}

func transactions(ctx context.Context, driver neo4j.DriverWithContext) {
	count := func() int64 { return ask(ctx, driver, "MATCH (n:Tx) RETURN count(n)", nil)[0].Values[0].(int64) }
	session := driver.NewSession(ctx, neo4j.SessionConfig{})
	defer session.Close(ctx)
	before := count()
	_, err := session.ExecuteWrite(ctx, func(tx neo4j.ManagedTransaction) (any, error) { return tx.Run(ctx, "CREATE (:Tx)", nil) })
	check(err == nil && count() == before+1, "write: %v", err)
	_, err = session.ExecuteWrite(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
		_, _ = tx.Run(ctx, "CREATE (:Tx)", nil)
		return nil, errors.New("no")
	})
	check(err != nil && count() == before+1, "rollback: %v", err)
	_, err = session.ExecuteRead(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
		result, err := tx.Run(ctx, "CREATE (:Tx)", nil)
		if err != nil {
			return nil, err
		}
		return result.Consume(ctx)
	})
	check(code(err) == "Neo.ClientError.Statement.AccessMode", "read only: %v", err)
}

func failures(ctx context.Context, driver neo4j.DriverWithContext) {
	for query, expected := range map[string]string{
		"RETURN 1 +":      "Neo.ClientError.Statement.SyntaxError",
		"RETURN 1 / 0":    "Neo.ClientError.Statement.ArithmeticError",
		"RETURN $missing": "Neo.ClientError.Statement.ParameterMissing",
	} {
		_, err := neo4j.ExecuteQuery(ctx, driver, query, nil, neo4j.EagerResultTransformer)
		check(code(err) == expected, "%s: %v", query, err)
	}
}

func cancellation(ctx context.Context, driver neo4j.DriverWithContext) {
	session := driver.NewSession(ctx, neo4j.SessionConfig{})
	defer session.Close(ctx)
	result, err := session.Run(ctx, long, nil, neo4j.WithTxTimeout(300*time.Millisecond))
	if err == nil {
		_, err = result.Consume(ctx)
	}
	check(strings.Contains(code(err), "TransactionTimedOut"), "timeout: %v", err)
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	_, err = neo4j.ExecuteQuery(short, driver, long, nil, neo4j.EagerResultTransformer)
	check(err != nil, "a cancelled query has an answer")
	ask(ctx, driver, "RETURN 1", nil)
}

func streaming(ctx context.Context, driver neo4j.DriverWithContext, rows int64) {
	session := driver.NewSession(ctx, neo4j.SessionConfig{})
	defer session.Close(ctx)
	result, err := session.Run(ctx, "UNWIND range(1, $rows) AS x RETURN x, toString(x) AS text", map[string]any{"rows": rows})
	check(err == nil, "%v", err)
	var seen, sum int64
	for result.Next(ctx) {
		seen++
		sum += result.Record().Values[0].(int64)
	}
	check(result.Err() == nil && seen == rows && sum == rows*(rows+1)/2, "%d rows: %v", seen, result.Err())
}

func main() {
	ctx := context.Background()
	rows := int64(1000000)
	if len(os.Args) > 2 {
		rows, _ = strconv.ParseInt(os.Args[2], 10, 64)
	}
	driver, err := neo4j.NewDriverWithContext(os.Args[1], neo4j.BasicAuth("neo4j", "any", ""))
	check(err == nil, "%v", err)
	defer driver.Close(ctx)
	types(ctx, driver)
	transactions(ctx, driver)
	failures(ctx, driver)
	cancellation(ctx, driver)
	streaming(ctx, driver, rows)
	fmt.Println("go: ok")
}
