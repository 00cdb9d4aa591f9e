// What is done with every page: it is opened in a profile of its own, heard, and looked at.
import assert from "node:assert/strict";
import { join } from "node:path";
import axe from "axe-core";

// rules are WCAG 2.0, 2.1 and 2.2, levels A and AA, by axe's names.
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

// looks are a scheme and a width in pixels, the smallest one that of WCAG 2.1, 1.4.10. The last one
// stays.
const looks = { dark: ["dark", 820], small: ["light", 320], light: ["light", 820] };
const height = 1000;

const complaints = new WeakMap();

// open opens a page in a profile of its own: no cookies, nothing kept.
export async function open(walk) {
  const [colorScheme, width] = looks.light;
  const context = await walk.browser.newContext({ colorScheme, viewport: { width, height } });
  context.setDefaultTimeout(10_000); // ms
  const page = await context.newPage();
  complaints.set(page, []);
  page.on("console", (m) => ["warning", "error"].includes(m.type()) && complaints.get(page).push(m.text()));
  page.on("pageerror", (e) => complaints.get(page).push(e.message));
  return page;
}

// quiet requires that the browser found nothing wrong: no policy kept a page from its style or a
// form from its way.
export function quiet(page) {
  assert.deepEqual(complaints.get(page), [], "the browser complains");
}

async function look(page, colorScheme, width) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height });
}

async function search(page, runOnly) {
  await page.evaluate(axe.source);
  const found = await page.evaluate((only) => window.axe.run({ runOnly: only, preload: false }), runOnly);
  const broken = found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(" ")}`);
  assert.deepEqual(broken, [], "the page breaks a rule of WCAG 2");
  assert.ok(found.passes.some((rule) => rule.id === "color-contrast"), "axe did not look");
  return found;
}

// inspect searches a page for what breaks the rules, in both schemes and on a small screen, and
// takes pictures if they are wanted.
export async function inspect(walk, page, name) {
  for (const [suffix, [scheme, width]] of Object.entries(looks)) {
    await look(page, scheme, width);
    await search(page, rules);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${name}: at a width of ${width} one has to scroll sideways`);
    if (walk.shots) await page.screenshot({ path: join(walk.shots, `${name}-${suffix}.png`), fullPage: true });
  }
}

// contrast requires that axe can see all that is to be read: what one would have to scroll to within
// the page, it leaves undecided. Two things it never decides: single characters, and text in a
// picture. Both have the colours of other text.
export async function contrast(page) {
  for (const scheme of ["dark", "light"]) {
    await look(page, scheme, 1600);
    const { incomplete } = await search(page, ["color-contrast"]);
    const undecided = incomplete.flatMap((rule) => rule.nodes).filter((n) => !["shortTextContent", "imgNode"].includes(n.any[0].data.messageKey));
    assert.deepEqual(undecided.map((n) => n.html), [], "axe cannot tell the contrast");
  }
}

// told requires that a screen reader is told of each element: its role, its name and, if there is
// one, its description.
export async function told(page, wanted) {
  for (const [role, name, description] of wanted) {
    const found = await page.getByRole(role, { name, description, exact: true }).count();
    assert.ok(found > 0, `a screen reader is not told of the ${role} ${name ?? ""} ${description ?? ""}\n${await page.ariaSnapshot()}`);
  }
}

// focused is what a screen reader says when the focus comes to where it is.
export async function focused(page) {
  const [{ role, name, checked }] = await page.locator(":focus").ariaSnapshotJSON();
  return `${role} ${name}${checked ? ", checked" : ""}`;
}

export async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

// isText requires that what somebody called themselves made no element and ran no script.
export async function isText(page) {
  assert.equal(await page.locator("main").locator("img, script, iframe").count(), 0, "a hostile name is markup");
  assert.equal(await page.evaluate(() => "pwned" in window), false, "a hostile name is a script");
}
