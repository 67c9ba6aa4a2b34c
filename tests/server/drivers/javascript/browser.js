// Bolt over WebSocket: the build of the driver for browsers, with a WebSocket for node. node browser.js bolt://HOST:PORT

'use strict'

const assert = require('node:assert')
const WebSocket = require('ws')

const uri = process.argv[2]
global.window = global
global.self = global
global.WebSocket = class extends WebSocket {
  constructor (url) { super(url, { origin: url.replace(/^ws/, 'http').replace(/\/$/, '') }) }
}
const neo4j = require('neo4j-driver/lib/browser/neo4j-web.js')

async function main () {
  const driver = neo4j.driver(uri, neo4j.auth.basic('neo4j', 'any'))
  const { records } = await driver.executeQuery('UNWIND range(1, 20000) AS x RETURN x, {text: "Grüße 🙂"} AS map')
  assert.strictEqual(records.length, 20000)
  assert.strictEqual(records[19999].get('x').toNumber(), 20000)
  assert.strictEqual(records[0].get('map').text, 'Grüße 🙂')
  const long = 'x'.repeat(300000)
  const echoed = await driver.executeQuery('RETURN $long AS long', { long })
  assert.strictEqual(echoed.records[0].get('long'), long)
  await driver.close()
  console.log('websocket: ok')
}

main().catch(error => { console.error(error); process.exit(1) })
