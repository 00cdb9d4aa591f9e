// Walks through the pages of a system, step by step. What there is to walk through comes as JSON
// on standard input: the type task of walk.go.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { watchLog } from "./audit.mjs";
import * as signIn from "./signin.mjs";

const steps = [
  ["let a program in with the keyboard", signIn.consent],
  ["say no", signIn.deny],
  ["be sent back with an error", signIn.mistake],
  ["say nothing, and be asked again", signIn.unanswered],
  ["be asked by a program with a hostile name", signIn.hostile],
  ["read what went wrong", signIn.errors],
  ["frame the page", signIn.frame],
  ["answer from another site", signIn.forge],
  ["watch the audit log", watchLog],
];

const task = JSON.parse(readFileSync(0, "utf8"));
const browser = await chromium.launch({
  executablePath: task.chromium,
  chromiumSandbox: process.geteuid() !== 0, // it is not made for root, as in a container
});
try {
  for (const [name, step] of steps) {
    await step({ ...task, browser }).catch((cause) => {
      throw new Error(name, { cause });
    });
    console.log("browser:", name);
  }
} finally {
  await browser.close();
}
