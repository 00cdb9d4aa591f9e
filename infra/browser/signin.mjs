// Signing in, with the keyboard alone.
import assert from "node:assert/strict";
import { focused, inspect, isText, open, press, quiet, told } from "./pages.mjs";

// order is how the focus goes through the consent page of an owner, and what is said on the way.
// Who may destroy or oversee something is asked, but not assumed: that is not ticked.
const order = [
  "checkbox Read issues, checked",
  "checkbox Read comments, checked",
  "checkbox Create, change and delete issues, checked",
  "checkbox Write and delete comments, checked",
  "checkbox Read the audit log: what every member and program did",
  "button Allow",
  "button Cancel",
  "button I am someone else",
];

const asks = { name: "Walk asks to use AACWorkflow in your name", exact: true };

// signIn opens an address and says who it is: the position of the person among the choices.
async function signIn(walk, address, position) {
  const page = await open(walk);
  await page.goto(address);
  await press(page, "Tab", "Space", ...Array(position).fill("ArrowDown"), "Tab", "Enter");
  return page;
}

// ask is signIn, up to the consent page.
async function ask(walk, address, position) {
  const page = await signIn(walk, address, position);
  await page.getByRole("heading", asks).waitFor();
  return page;
}

async function backAtClient(walk, page) {
  await page.waitForURL(walk.site + "/callback?*");
  await page.getByText("You can close this page.").waitFor();
  quiet(page);
}

// consent walks the page with Tab, unticks a scope with Space, and lets the client in. What it got
// is compared by site.go.
export async function consent(walk) {
  const page = await ask(walk, walk.ask.all, 0); // Mira, an owner
  await inspect(walk, page, "consent");
  await readAloud(page);
  const heard = [];
  for (const _ of order) {
    await press(page, "Tab");
    heard.push(await focused(page));
    if (heard.at(-1).includes("delete issues")) {
      await press(page, "Space");
      assert.equal(await focused(page), "checkbox Create, change and delete issues");
    }
  }
  assert.deepEqual(heard, order);
  await page.getByRole("button", { name: "Allow", exact: true }).focus();
  await press(page, "Enter");
  await backAtClient(walk, page);
}

// readAloud compares what a screen reader is told with what must be known before saying yes.
async function readAloud(page) {
  assert.equal(await page.title(), "Allow Walk?");
  await told(page, [
    ["main"],
    ["heading", "Walk asks to use AACWorkflow in your name"],
    ["group", "It may do what is ticked:"],
    ["checkbox", "Read issues", "Opens: List issues, Get issue. Scope issues:read"],
    ["checkbox", "Create, change and delete issues", /Can destroy: Delete issue\./],
    ["checkbox", "Write and delete comments", /Can destroy: Delete comment\./],
    ["checkbox", "Read the audit log: what every member and program did", /^Opens no tool\./],
    ["button", "Allow"],
    ["button", "Cancel"],
    ["button", "I am someone else"],
  ]);
}

export async function deny(walk) {
  const page = await ask(walk, walk.ask.read, 2);
  await press(page, "Tab", "Tab", "Tab"); // the scope, Allow, Cancel
  assert.equal(await focused(page), "button Cancel");
  await press(page, "Enter");
  await backAtClient(walk, page);
}

// mistake signs in for a request that is wrong: the answer leads through the page of the sign-in
// to the client.
export async function mistake(walk) {
  await backAtClient(walk, await signIn(walk, walk.ask.wrong, 0));
}

// unanswered chooses nobody, then nothing.
export async function unanswered(walk) {
  const page = await open(walk);
  await page.goto(walk.ask.read);
  await told(page, [["group", "Sign in as:"], ["radio", "Mira Okafor", /^owner of /]]);
  await inspect(walk, page, "who");
  quiet(page);
  await page.getByRole("button", { name: "Continue" }).press("Enter");
  await page.getByRole("alert").getByText("Nobody is chosen.").waitFor();
  await inspect(walk, page, "nobody");
  await page.getByRole("radio", { name: "Mira Okafor" }).press("Space");
  await press(page, "Enter");
  await page.getByRole("checkbox", { name: "Read issues" }).press("Space");
  await page.getByRole("button", { name: "Allow", exact: true }).press("Enter");
  await page.getByRole("alert").waitFor();
  assert.equal(await page.title(), "Nothing ticked: Allow Walk?");
  await inspect(walk, page, "nothing");
}

// hostile is asked by a client that calls itself something else than text.
export async function hostile(walk) {
  const page = await signIn(walk, walk.ask.hostile, 0);
  await page.getByRole("heading", { name: `${walk.hostile} asks to use AACWorkflow in your name`, exact: true }).waitFor();
  assert.equal(await page.title(), `Allow ${walk.hostile}?`);
  await isText(page);
  await inspect(walk, page, "stranger");
  quiet(page);
}

// errors reads the pages that lead nowhere, and the one that lets the person go on.
export async function errors(walk) {
  const page = await signIn(walk, walk.ask.nobody, 0);
  await page.getByRole("heading", { name: "Signing in did not work" }).waitFor();
  await told(page, [["alert"]]);
  await inspect(walk, page, "error");
  const other = await signIn(walk, walk.ask.hostileWrong, 0);
  await other.getByRole("link", { name: `Go back to ${walk.hostile}`, exact: true }).waitFor();
  await isText(other);
  await inspect(walk, other, "way-back");
}

// frame requires that a page of another site cannot show ours.
export async function frame(walk) {
  const page = await open(walk);
  await page.goto(walk.site + "/frame");
  const shown = page.frames().map((f) => f.url());
  assert.deepEqual(shown, [walk.site + "/frame", "chrome-error://chromewebdata/"]);
}

// forge answers a page that is open in this browser from another site, whose attacker even knows
// the secret of the page. That is at another name of this machine, which is another site.
export async function forge(walk) {
  const page = await ask(walk, walk.ask.read, 0);
  const flow = await page.locator("[name=flow]").inputValue();
  const game = await page.context().newPage();
  await game.goto(`${walk.site.replace("127.0.0.1", "localhost")}/forge?flow=${flow}`);
  await game.getByRole("alert").getByText("does not come from the page").waitFor();
  assert.equal(new URL(game.url()).origin, walk.url);
}
