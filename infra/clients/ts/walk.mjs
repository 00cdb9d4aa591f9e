// The walk of walk.go with the official TypeScript SDK client. It checks every answer, fails on
// the first that is wrong, and prints how many tool calls it made.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const local = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const KNOWN = 'AAC-42';
const KNOWN_ID = '550e8400-e29b-41d4-a716-446655440000';
const NOWHERE_ID = '00000000-0000-4000-8000-000000000000';

// One of each kind of handshake: server/discover, and initialize.
const eras = [
  { version: '2026-07-28', mode: { pin: '2026-07-28' } },
  { version: '2025-11-25', mode: 'legacy' },
];
const holders = [
  { name: 'reader', writes: false, sees: true, tools: 4 },
  { name: 'editor', writes: true, sees: true, tools: 11 },
  { name: 'owner', writes: true, sees: true, tools: 11 },
  { name: 'outsider', writes: true, sees: false, tools: 11 },
];

let calls = 0;

async function connect(holder, era) {
  const client = new Client({ name: 'walk-ts', version: '1' }, { versionNegotiation: { mode: era.mode } });
  const transport = new StreamableHTTPClientTransport(new URL(local.mcp_url), {
    requestInit: { headers: { Authorization: `Bearer ${local.tokens[holder.name]}` } },
  });
  await client.connect(transport);
  assert.equal(client.getNegotiatedProtocolVersion(), era.version);
  return client;
}

// expect calls a tool and compares the reason of its refusal, '' for success.
async function expect(client, name, reason, args) {
  calls++;
  const result = await client.callTool({ name, arguments: args });
  assert.equal(result.content.length, 1, name);
  const body = JSON.parse(result.content[0].text);
  assert.equal(body.reason ?? '', reason, `${name}: ${body.error}`);
  assert.equal(result.isError ?? false, reason !== '', name);
  if (reason === '') assert.deepEqual(result.structuredContent, body, name);
  return body;
}

// refusedForScope wants HTTP 403, which the client reports as a failure of the call.
async function refusedForScope(client, name, args) {
  calls++;
  await assert.rejects(client.callTool({ name, arguments: args }), (err) => {
    assert.match(`${err.name} ${err.message} ${err.status ?? ''} ${err.data?.status ?? ''}`, /403|scope/i, name);
    return true;
  });
}

async function list(client, holder) {
  const { tools } = await client.listTools();
  assert.equal(tools.length, holder.tools, 'tools listed');
  for (const tool of tools) {
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
      assert.equal(typeof tool.annotations[hint], 'boolean', `${tool.name} ${hint}`);
    }
    assert.equal(tool.annotations.destructiveHint, tool.name.startsWith('delete_'), tool.name);
    assert.ok(tool.title && tool.annotations.title, `${tool.name} has titles`);
  }
}

async function read(client, holder) {
  const page = await expect(client, 'list_issues', '', { limit: 5 });
  assert.ok(Array.isArray(page.issues));
  if (!holder.sees) return void (await expect(client, 'get_issue', 'not_found', { issue_id: KNOWN }));
  const { issue } = await expect(client, 'get_issue', '', { issue_id: KNOWN.toLowerCase() });
  assert.equal(issue.id, KNOWN_ID);
}

async function writeAndDelete(client, holder, era) {
  if (!holder.writes) {
    await refusedForScope(client, 'create_issue', { title: 'Never made' });
    return refusedForScope(client, 'delete_issue', { issue_id: KNOWN, confirm: true });
  }
  const key = `walk-ts-${era.version}`;
  const { issue } = await expect(client, 'create_issue', '', { title: 'Made by a walk', idempotency_key: key });
  const again = await expect(client, 'create_issue', '', { title: 'Made by a walk', idempotency_key: key });
  assert.equal(again.replayed, true);
  assert.equal(again.issue.id, issue.id);
  const target = { issue_id: issue.identifier };
  const refusal = await expect(client, 'delete_issue', 'destructive_flag_missing', target);
  assert.equal(refusal.error, 'confirm: true required for destructive operations');
  await expect(client, 'delete_issue', 'destructive_flag_missing', { ...target, confirm: 'true' });
  const preview = await expect(client, 'delete_issue', '', { ...target, dry_run: true });
  assert.deepEqual([preview.deleted, preview.dry_run], [false, true]);
  const first = await expect(client, 'delete_issue', '', { ...target, confirm: true });
  const second = await expect(client, 'delete_issue', '', { ...target, confirm: true });
  assert.ok(first.deleted && first.deleted_at);
  assert.deepEqual(second, first);
  await expect(client, 'get_issue', 'not_found', target);
}

async function foreign(client, holder) {
  if (holder.sees) return;
  const answers = [];
  for (const issue_id of [KNOWN_ID, NOWHERE_ID]) {
    const { call_id, ...rest } = await expect(client, 'delete_issue', 'not_permitted', { issue_id, confirm: true });
    assert.ok(call_id);
    answers.push(rest);
  }
  assert.deepEqual(answers[0], answers[1]);
}

for (const era of eras) {
  for (const holder of holders) {
    const client = await connect(holder, era);
    try {
      await list(client, holder);
      await read(client, holder);
      await writeAndDelete(client, holder, era);
      await foreign(client, holder);
    } catch (err) {
      err.message = `${era.version}, as ${holder.name}: ${err.message}`;
      throw err;
    }
    await client.close();
  }
}
console.log(calls);
