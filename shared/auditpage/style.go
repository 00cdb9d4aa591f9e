package auditpage

// Style is the whole style sheet, of the widget and of the page. Contrasts are at least 4.5 to 1
// in both schemes, and nothing is told by colour alone. The widget says which scheme its
// dashboard has; a page follows the reader's.
const Style = `
.aac { --ground: #ffffff; --ink: #16191f; --soft: #545b64; --line: #c6cbd2; --head: #f2f3f5; --accent: #0b5cad; --success: #1d7a46; --denied: #b35900; --error: #b3261e; --focus: #0b5cad; color: var(--ink); background: var(--ground); font: 14px/1.45 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
@media (prefers-color-scheme: dark) { .aac:not(.aac-light) { --ground: #14181f; --ink: #e9ecf1; --soft: #b0b8c4; --line: #3d4653; --head: #1e242e; --accent: #8ab8f5; --success: #6cc993; --denied: #f2a65a; --error: #ff9d94; --focus: #8ab8f5; } }
.aac-dark { --ground: #14181f; --ink: #e9ecf1; --soft: #b0b8c4; --line: #3d4653; --head: #1e242e; --accent: #8ab8f5; --success: #6cc993; --denied: #f2a65a; --error: #ff9d94; --focus: #8ab8f5; }
.aac h2 { font-size: 1.15em; margin: 1.6em 0 0.5em; }
.aac p { margin: 0.4em 0; max-width: 60em; }
.aac table { border-collapse: collapse; width: 100%; }
.aac caption { text-align: left; color: var(--soft); padding: 0 0 0.4em; }
.aac th, .aac td { text-align: left; vertical-align: top; font-weight: normal; padding: 0.3em 0.8em 0.3em 0.4em; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
.aac thead th { background: var(--head); font-weight: 600; white-space: nowrap; }
.aac time { white-space: nowrap; font-variant-numeric: tabular-nums; }
.aac code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 0.95em; }
.aac-id { white-space: nowrap; font-size: 0.9em; } .aac-any { display: inline-block; min-width: 12em; overflow-wrap: anywhere; font-size: 0.9em; }
.aac-note, .aac-none { color: var(--soft); }
.aac-problem { border: 1px solid var(--error); border-left-width: 6px; padding: 0.5em 0.8em; }
.aac-counts { display: flex; flex-wrap: wrap; gap: 0.4em 2.5em; margin: 0 0 0.8em; }
.aac-count dt { color: var(--soft); }
.aac-count dd { margin: 0; font-size: 1.7em; font-variant-numeric: tabular-nums; }
.aac-key { display: inline-block; width: 0.8em; height: 0.8em; margin-right: 0.4em; background: currentColor; }
.aac-key.aac-success { color: var(--success); } .aac-key.aac-denied { color: var(--denied); } .aac-key.aac-error { color: var(--error); }
.aac-chart { display: block; width: 100%; max-width: 60em; height: auto; }
.aac-chart rect.aac-success { fill: var(--success); } .aac-chart rect.aac-denied { fill: var(--denied); } .aac-chart rect.aac-error { fill: var(--error); }
.aac-axis { stroke: var(--line); } .aac-label { fill: var(--soft); font-size: 12px; }
.aac-word { font-weight: 600; } .aac-is-success { color: var(--success); } .aac-is-denied { color: var(--denied); } .aac-is-error { color: var(--error); }
.aac-severity-major { color: var(--error); } .aac-severity-minor { color: var(--denied); }
.aac form { display: flex; flex-wrap: wrap; align-items: end; gap: 0.6em 1em; margin: 0.8em 0; }
.aac form > div { max-width: 100%; } .aac label { display: block; color: var(--soft); }
.aac input, .aac select, .aac button { font: inherit; color: var(--ink); background: var(--ground); border: 1px solid var(--soft); border-radius: 4px; padding: 0.35em 0.6em; box-sizing: border-box; max-width: 100%; }
.aac button { cursor: pointer; font-weight: 600; }
.aac :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
@media (forced-colors: active) { .aac-chart rect { stroke: CanvasText; } .aac-key { forced-color-adjust: none; } }
`

// PageStyle comes after Style on a page, where there is no dashboard around it.
const PageStyle = `
body.aac { margin: 0; }
.aac-page main { max-width: 76em; margin: 0 auto; padding: 1.5em; }
.aac-page h1 { font-size: 1.6em; margin: 0 0 0.4em; }
.aac-scroll { overflow-x: auto; }
.aac-page table { min-width: 44em; }
#counts table, #findings table, #actors table, #reasons table { min-width: 0; }
[hidden] { display: none !important; }
`
