// The page of the audit log: with the keyboard, by a token, while calls are made.
import assert from "node:assert/strict";
import { join } from "node:path";
import { contrast, focused, inspect, isText, open, press, quiet, told } from "./pages.mjs";

const soon = 2_000; // ms, in which a call is seen

// watchLog opens the page, shows the log by the owner's token and sees calls come in.
export async function watchLog(walk) {
  await traffic(walk);
  const page = await open(walk);
  const log = page.getByRole("region", { name: "Newest calls" });
  await page.goto(walk.url + "/");
  await publicPart(walk, page);
  await press(page, "Tab"); // the first thing on the page
  await enterToken(page, walk.tokens.owner);
  await log.getByText("succeeded").first().waitFor();
  for (const step of [nothingKept, deniedCall, cover, hostileNames, filterByKeyboard, heard]) await step(walk, page, log);
  quiet(page); // before anything is refused: browsers log that
  await refusedToken(walk, page, log);
}

// publicPart requires the tools, and nothing of the log, before there is a token.
async function publicPart(walk, page) {
  await told(page, [
    ["heading", "AACWorkflow MCP connector"],
    ["textbox", "Token"],
    ["button", "Show the audit log"],
    ["region", "Tools"],
    ["columnheader", "confirm"],
    ["rowheader", "delete_issue"],
  ]);
  assert.equal(await page.getByRole("region", { name: "Newest calls" }).count(), 0, "the log is shown without a token");
  await contrast(page);
  await inspect(walk, page, "public");
}

// enterToken types it where the focus is, and leaves with Enter.
async function enterToken(page, token) {
  assert.equal(await focused(page), "textbox Token");
  await page.keyboard.insertText(token);
  await press(page, "Enter");
}

// nothingKept requires that the token is in no place that outlives the page or leaves it.
async function nothingKept(walk, page) {
  const kept = JSON.stringify([
    page.url(),
    await page.content(),
    await page.context().storageState(),
    await page.evaluate(() => ({ ...sessionStorage })),
    await page.locator("input").evaluateAll((all) => all.map((e) => e.value)),
  ]);
  assert.ok(!kept.includes("aac_pat_"), "the token is somewhere else than in the page's memory");
}

async function deniedCall(walk, page, log) {
  await call(walk, "editor", "Walk/1.0", "delete_issue", { issue_id: "NOPE-1" });
  await log.getByText("destructive_flag_missing").waitFor({ timeout: soon });
}

// cover takes the picture for the docs, docs/audit-page.png: what fits into a window.
async function cover(walk, page) {
  await contrast(page);
  if (!walk.shots) return;
  await page.setViewportSize({ width: 1200, height: 1000 });
  await page.screenshot({ path: join(walk.shots, "audit-page.png") });
}

// hostileNames has a program with a hostile name call a tool with a hostile name, and somebody with
// a hostile name do anything.
async function hostileNames(walk, page, log) {
  const answer = await fetch(walk.site + "/event", { method: "POST" });
  assert.equal(answer.status, 200, await answer.text());
  await mcp(walk, "editor", walk.hostile, walk.hostile);
  await log.getByRole("rowheader").first().waitFor();
  for (const column of [2, 3, 4]) { // tool, actor, client
    await log.locator(`tbody tr > :nth-child(${column + 1})`).getByText(walk.hostile).first().waitFor();
  }
  await isText(page);
  await inspect(walk, page, "audit");
}

// filterByKeyboard chooses the outcome denied, and sees nothing else.
async function filterByKeyboard(walk, page, log) {
  await page.getByRole("combobox", { name: "Tool" }).focus();
  await press(page, "Tab");
  await assertFocus(page, "Outcome");
  await press(page, "ArrowDown", "ArrowDown"); // all, succeeded, denied
  const rows = log.locator("tbody tr");
  await rows.filter({ hasNot: page.getByRole("cell", { name: /^denied/ }) }).first().waitFor({ state: "detached" });
  assert.ok((await rows.count()) > 0, "the filter leaves nothing");
  // A report that comes in meanwhile leaves the focus where it is.
  await call(walk, "reader", "Meanwhile/1.0", "create_issue", { title: "x" });
  await rows.getByText("Meanwhile").waitFor();
  await assertFocus(page, "Outcome");
}

async function assertFocus(page, name) {
  const is = page.getByRole("combobox", { name }).and(page.locator(":focus"));
  assert.equal(await is.count(), 1, `the focus is at ${await focused(page)}, want ${name}`);
}

// heard compares what a screen reader is told of the log with what is on it.
async function heard(walk, page) {
  await told(page, [
    ["region", "Newest calls"],
    ["region", "Findings"],
    ["combobox", "Outcome"],
    ["textbox", "Actor"],
    ["button", "Forget the token"],
    ["status"],
    ["columnheader", "actor"],
    ["img", /denied/], // the chart, in words
  ]);
}

// refusedToken forgets the owner's token, which takes the log away, and tries one that may not
// read it.
async function refusedToken(walk, page) {
  await page.getByRole("button", { name: "Forget the token" }).press("Enter");
  await page.locator("#live").waitFor({ state: "hidden" });
  assert.equal(await page.locator("#events").textContent(), "", "the log stays when the token is forgotten");
  await enterToken(page, walk.tokens.reader);
  await page.getByRole("alert").getByText("scope").waitFor();
  assert.ok(await page.locator("#live").isHidden());
  await inspect(walk, page, "refused");
}

// traffic makes some calls, for there to be something to see.
async function traffic(walk) {
  for (const [who, program, tool, args] of [
    ["editor", "claude-code/2.1", "list_issues", {}],
    ["editor", "claude-code/2.1", "create_issue", { title: "Light the third beacon" }],
    ["reader", "ChatGPT/1.0", "list_issues", { limit: 5 }],
    ["reader", "ChatGPT/1.0", "create_issue", { title: "x" }],
    ["owner", "curl/8.5", "dashboard_usage_daily", {}],
    ["editor", "claude-code/2.1", "get_issue", { issue_id: "NOPE-7" }],
    ["editor", "claude-code/2.1", "list_issues", { limit: 0 }],
    ["editor", "claude-code/2.1", "list_issues", { statuses: ["todo"] }],
  ]) await call(walk, who, program, tool, args);
  for (let i = 0; i < 6; i++) await mcp(walk, "reader", "ChatGPT/1.0", `export_${i}`); // probing: a finding
}

const call = (walk, who, program, tool, args) => send(walk, who, program, "/tools/" + tool, args);

const mcp = (walk, who, program, name) =>
  send(walk, who, program, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } });

// send makes a request; how it is answered does not matter here, walk.go compares the log.
async function send(walk, who, program, path, body) {
  const headers = {
    Authorization: "Bearer " + walk.tokens[who],
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
    "User-Agent": program,
  };
  await (await fetch(walk.url + path, { method: "POST", headers, body: JSON.stringify(body) })).text();
}
