package page

// style is the whole style sheet. Its hash is in the policy of every page, so it holds no
// comments: a template would leave them out. Contrasts are at least 4.5 to 1 in both schemes,
// and nothing is told by colour alone.
const style = `
:root { color-scheme: light dark; --ground: #f4f5f7; --sheet: #ffffff; --ink: #1c2430; --soft: #525c6b; --line: #c9ced6; --accent: #1f5fbf; --on-accent: #ffffff; --warn: #9a2318; --warn-ground: #fdeeec; }
@media (prefers-color-scheme: dark) {
:root { --ground: #12161d; --sheet: #1b212b; --ink: #e8ecf2; --soft: #aab4c3; --line: #3b4554; --accent: #8ab4f8; --on-accent: #0d1420; --warn: #ffb4a9; --warn-ground: #3a1f1d; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 38rem; overflow-wrap: anywhere; margin: 2rem auto; padding: 1.75rem; background: var(--sheet); border: 1px solid var(--line); border-radius: 0.75rem; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 0.75rem; }
p { margin: 0 0 0.75rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1rem; margin: 0 0 1.25rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
fieldset { border: 0; margin: 0 0 1.25rem; padding: 0; }
legend { font-weight: 600; padding: 0; margin-bottom: 0.5rem; }
.choice { display: grid; grid-template-columns: auto 1fr; gap: 0.1rem 0.75rem; padding: 0.7rem 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem; margin-bottom: 0.5rem; }
.choice input { width: 1.2rem; height: 1.2rem; margin: 0.15rem 0 0; accent-color: var(--accent); }
.choice label { font-weight: 600; }
.choice .more { grid-column: 2; color: var(--soft); font-size: 0.9rem; margin: 0; }
.choice .warn { grid-column: 2; color: var(--warn); font-size: 0.9rem; font-weight: 600; margin: 0; }
.note { color: var(--soft); font-size: 0.9rem; }
.problem { color: var(--warn); background: var(--warn-ground); border: 1px solid var(--warn); border-radius: 0.5rem; padding: 0.6rem 0.75rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; }
button, .button { font: inherit; font-weight: 600; padding: 0.6rem 1.2rem; border-radius: 0.5rem; border: 1px solid var(--line); background: transparent; color: var(--ink); cursor: pointer; text-decoration: none; display: inline-block; }
button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.quiet { border: 0; padding: 0.2rem 0; text-decoration: underline; font-weight: 400; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (forced-colors: active) { main, .choice, button { border-color: CanvasText; } }
`
