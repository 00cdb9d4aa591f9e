// Signs in with the official TypeScript SDK client, which is told the address alone, and a person
// whom it asks over HTTP. It checks every answer, fails on the first that is wrong, and prints how
// many tool calls it made.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [address, person] = process.argv.slice(2);
const callback = 'http://127.0.0.1:7777/callback';

// provider keeps in memory what an application would keep on disk.
class Provider {
  redirectUrl = callback;
  clientMetadata = { client_name: 'walk-ts', redirect_uris: [callback], grant_types: ['authorization_code', 'refresh_token'] };
  kept = {};
  returned = [];
  state() {
    this.kept.state = crypto.randomUUID();
    return this.kept.state;
  }
  clientInformation() {
    return this.kept.client;
  }
  saveClientInformation(client) {
    this.kept.client = client;
  }
  tokens() {
    return this.kept.tokens;
  }
  saveTokens(tokens) {
    this.kept.tokens = tokens;
  }
  saveCodeVerifier(verifier) {
    this.kept.verifier = verifier;
  }
  codeVerifier() {
    return this.kept.verifier;
  }
  saveDiscoveryState(state) {
    this.kept.discovery = state;
  }
  discoveryState() {
    return this.kept.discovery;
  }
  // redirectToAuthorization has the person answer, and keeps where they were sent.
  async redirectToAuthorization(url) {
    const response = await fetch(`${person}/?url=${encodeURIComponent(url)}`);
    const text = await response.text();
    assert.ok(response.ok, text);
    this.returned.push(new URL(text).searchParams);
  }
}

let calls = 0;

async function connect(provider) {
  const client = new Client({ name: 'walk-ts', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
  await client.connect(transport);
  return { client, transport };
}

// finish redeems what the person came back with, as the page behind the callback would.
async function finish(provider) {
  const answer = provider.returned.pop();
  assert.equal(answer.get('state'), provider.kept.state);
  const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
  await transport.finishAuth(answer);
}

async function call(client, name, args) {
  calls++;
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result));
  return result.structuredContent;
}

const provider = new Provider();
await assert.rejects(connect(provider), UnauthorizedError);
await finish(provider);
assert.equal(provider.kept.tokens.scope, 'issues:read');

// Reads.
let { client } = await connect(provider);
const { issue } = await call(client, 'get_issue', { issue_id: 'AAC-42' });
assert.equal(issue.identifier, 'AAC-42');

// Is refused, asks for more, and writes.
await assert.rejects(call(client, 'create_issue', { title: 'Not yet' }), UnauthorizedError);
await finish(provider);
assert.deepEqual(provider.kept.tokens.scope.split(' ').sort(), ['issues:read', 'issues:write']);
({ client } = await connect(provider));
await call(client, 'create_issue', { title: 'Made after signing in again' });

// Gets a new token without the person when the old one is no longer good.
const before = provider.kept.tokens;
provider.kept.tokens = { ...before, access_token: 'worn-out' };
({ client } = await connect(provider));
await call(client, 'list_issues', { limit: 1 });
assert.notEqual(provider.kept.tokens.refresh_token, before.refresh_token);
assert.notEqual(provider.kept.tokens.access_token, before.access_token);
await client.close();
console.log(calls);
