// What every driver must manage against `hoplite serve`; see README.md. Run by: node common.js URI [ROWS]

'use strict'

const assert = require('node:assert')
const neo4j = require('neo4j-driver')

const uri = process.argv[2]
const rows = Number(process.argv[3] ?? 1000000)

async function types (driver) {
  const { int, types: { Point, Date, DateTime, Duration, LocalDateTime, LocalTime, Time } } = neo4j
  const values = [
    null, true, false, int('9223372036854775807'), int('-9223372036854775808'), 1.5, -0.0, Infinity, '', 'Grüße 🙂',
    new Int8Array([0, 127, -1]), [int(1), 'a', [null]], { a: int(1), b: { c: [2.5] } },
    new Date(2024, 2, 29), new LocalTime(12, 30, 59, 123456789), new Time(12, 30, 59, 1, 3600),
    new LocalDateTime(1969, 12, 31, 23, 59, 59, 999999999), new DateTime(2024, 7, 1, 12, 0, 0, 0, 7200),
    new DateTime(2024, 7, 1, 12, 0, 0, 0, 7200, 'Europe/Berlin'), new Duration(14, 3, 14706, 800),
    new Point(int(7203), 1.5, 2.5), new Point(int(4326), 12.5, 55.5), new Point(int(9157), 1, 2, 3), new Point(int(4979), 1, 2, 3)
  ]
  for (const value of values) {
    const { records } = await driver.executeQuery('RETURN $value AS value', { value })
    const back = records[0].get('value')
    assert.strictEqual(String(back), String(value))
    assert.strictEqual(back?.constructor, value?.constructor)
  }
  const { records } = await driver.executeQuery(
    'CREATE p = (a:A:B {x: 1})-[r:R {y: 2.5}]->(b:C)<-[:S]-(a) RETURN a, r, p, [a, r] AS list, {k: b} AS map')
  const [record] = records
  assert.deepStrictEqual([...record.get('a').labels].sort(), ['A', 'B'])
  assert.strictEqual(record.get('r').type, 'R')
  assert.strictEqual(record.get('r').startNodeElementId, record.get('a').elementId)
  assert.strictEqual(record.get('p').length, 2)
  assert.strictEqual(record.get('p').segments[1].end.elementId, record.get('a').elementId)
  assert.strictEqual(record.get('map').k.labels[0], 'C')
}

async function transactions (driver) {
  const session = driver.session()
  const count = async () => (await driver.executeQuery('MATCH (n:Tx) RETURN count(n) AS n')).records[0].get('n').toNumber()
  await session.executeWrite(tx => tx.run('CREATE (:Tx)'))
  assert.strictEqual(await count(), 1)
  await assert.rejects(session.executeWrite(async tx => { await tx.run('CREATE (:Tx)'); throw new Error('no') }), /no/)
  assert.strictEqual(await count(), 1)
  const tx = await session.beginTransaction()
  await tx.run('CREATE (:Tx)')
  await tx.rollback()
  assert.strictEqual(await count(), 1)
  await assert.rejects(session.executeRead(tx => tx.run('CREATE (:Tx)')), { code: 'Neo.ClientError.Statement.AccessMode' })
  await session.close()
}

async function errors (driver) {
  await assert.rejects(driver.executeQuery('RETURN 1 +'), { code: 'Neo.ClientError.Statement.SyntaxError' })
  await assert.rejects(driver.executeQuery('RETURN 1 / 0'), { code: 'Neo.ClientError.Statement.ArithmeticError' })
  await assert.rejects(driver.executeQuery('RETURN $missing'), { code: 'Neo.ClientError.Statement.ParameterMissing' })
  await assert.rejects(driver.executeQuery('RETURN 1', {}, { database: 'nope' }), { code: 'Neo.ClientError.Database.DatabaseNotFound' })
  const { summary } = await driver.executeQuery('MATCH (n:Nowhere) RETURN n')
  assert.ok(summary.gqlStatusObjects.some(status => status.gqlStatus === '01N50'))
}

async function cancellation (driver) {
  const long = 'UNWIND range(1, 100000000) AS x WITH x WHERE x % 2 = 3 RETURN count(x) AS n'
  const session = driver.session()
  await assert.rejects(session.run(long, {}, { timeout: 300 }), { code: 'Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration' })
  const tx = await session.beginTransaction()
  const running = tx.run(long).then(() => 'finished', () => 'stopped')
  setTimeout(() => session.close(), 300)
  assert.strictEqual(await running, 'stopped')
  const { records } = await driver.executeQuery('RETURN 1 AS one')
  assert.strictEqual(records[0].get('one').toNumber(), 1)
}

async function streaming (driver) {
  const session = driver.session()
  let seen = 0
  let sum = 0
  for await (const record of session.run('UNWIND range(1, $rows) AS x RETURN x, toString(x) AS text', { rows: neo4j.int(rows) })) {
    seen += 1
    sum += record.get('x').toNumber()
  }
  assert.strictEqual(seen, rows)
  assert.strictEqual(sum, rows * (rows + 1) / 2)
  await session.close()
}

async function main () {
  const driver = neo4j.driver(uri, neo4j.auth.basic('neo4j', 'any'))
  for (const step of [types, transactions, errors, cancellation, streaming]) {
    await step(driver)
    console.log(`${step.name}: ok`)
  }
  await driver.close()
}

main().catch(error => { console.error(error); process.exit(1) })
