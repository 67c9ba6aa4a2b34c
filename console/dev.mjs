// The console in front of any Bolt server, for work on the page:  node dev.mjs PORT BOLT_HOST:BOLT_PORT
// Serves hoplite/server/console with the headers that `hoplite serve` sends, and hands WebSockets on to the server.

import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [port = '7600', target = '127.0.0.1:7687'] = process.argv.slice(2);
const [host, boltPort] = target.split(':');
const folder = resolve(dirname(fileURLToPath(import.meta.url)), '../hoplite/server/console');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.txt': 'text/plain' };
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; "
  + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const server = createServer((request, response) => {
  const name = request.url.split('?')[0].slice(1) || 'index.html';
  const path = join(folder, name);
  if (!/^[a-z]+\.[a-z]+$/.test(name) || !existsSync(path)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'Content-Type': `${types[extname(name)]}; charset=utf-8`, 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache' });
  createReadStream(path).pipe(response);
});
server.on('upgrade', (request, socket, head) => {
  const bolt = connect(Number(boltPort), host, () => {
    const headers = request.rawHeaders.reduce((text, part, i) => text + part + (i % 2 ? '\r\n' : ': '), '');
    bolt.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers}\r\n`);
    bolt.write(head);
    bolt.pipe(socket).pipe(bolt);
  });
  for (const end of [bolt, socket]) end.on('error', () => { bolt.destroy(); socket.destroy(); });
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${port} -> bolt://${target}`));
