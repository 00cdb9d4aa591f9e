"use strict";
// The live part of the page. The token stays in the variable below: it is in no address, no
// storage and no cookie, and is gone with the page. What comes from the server is HTML in which
// all that anybody wrote is text; the page's policy lets no script run from it.
(() => {
  const byId = (id) => document.getElementById(id);
  const retryAfter = 1000; // ms
  const sayEvery = 5000; // ms, for those who listen
  let token = "";
  let reading = null; // ends the feed that is read
  let said = 0;
  let toSay = null;

  function say(words) {
    clearTimeout(toSay);
    const wait = said + sayEvery - Date.now();
    if (wait > 0) {
      toSay = setTimeout(say, wait, words);
      return;
    }
    said = Date.now();
    byId("status").textContent = words;
  }

  function complain(words) {
    byId("problem").textContent = words;
    byId("problem").hidden = words === "";
  }

  function show(report) {
    for (const [id, html] of Object.entries(report.sections)) {
      const place = byId(id);
      if (place.dataset.is !== html) {
        place.innerHTML = html;
        place.dataset.is = html;
      }
    }
    byId("live").hidden = false;
    byId("enter").hidden = true;
    byId("token-note").hidden = true;
    say(report.summary);
  }

  // forget leaves the page as it was before there was a token.
  function forget() {
    if (reading) reading.abort();
    reading = null;
    token = "";
    clearTimeout(toSay);
    said = 0;
    byId("status").textContent = "";
    byId("live").hidden = true;
    byId("enter").hidden = false;
    byId("token-note").hidden = false;
    for (const place of byId("live").querySelectorAll("[role=region]")) {
      place.textContent = "";
      delete place.dataset.is;
    }
  }

  // take handles one server-sent event. It is false if there will be no more.
  function take(block) {
    const lines = block.split("\n");
    const of = (name) => lines.filter((l) => l.startsWith(name + ": ")).map((l) => l.slice(name.length + 2)).join("\n");
    const data = JSON.parse(of("data"));
    if (of("event") === "report") {
      complain("");
      show(data);
      return true;
    }
    forget();
    complain(data);
    return false;
  }

  async function read(signal) {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(byId("filters"))) {
      if (value !== "") query.set(name, value);
    }
    const answer = await fetch("/page/feed?" + query, { headers: { Authorization: "Bearer " + token }, signal, cache: "no-store", credentials: "omit", redirect: "error" });
    if (!answer.ok) {
      const words = await answer.json().then((body) => body.error, () => "");
      if (answer.status !== 400) forget();
      complain(words || "The audit log cannot be shown (status " + answer.status + ").");
      return false;
    }
    const chunks = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await chunks.read();
      if (done) return true;
      rest += value;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        const block = rest.slice(0, end);
        rest = rest.slice(end + 2);
        if (!signal.aborted && !take(block)) return false;
      }
    }
  }

  // watch reads the feed, again and again, until it is told to stop.
  async function watch() {
    if (reading) reading.abort();
    if (token === "") return;
    const mine = (reading = new AbortController());
    while (!mine.signal.aborted) {
      try {
        if (!(await read(mine.signal))) return;
      } catch (e) {
        if (mine.signal.aborted) return;
        complain("The connector does not answer. Trying again.");
      }
      await new Promise((resolve) => setTimeout(resolve, retryAfter));
    }
  }

  byId("enter").addEventListener("submit", (e) => {
    e.preventDefault();
    token = byId("token").value.trim();
    byId("token").value = "";
    complain(token === "" ? "Enter a token." : "");
    watch();
  });
  byId("filters").addEventListener("submit", (e) => {
    e.preventDefault();
    watch();
  });
  byId("filters").addEventListener("change", watch);
  byId("leave").addEventListener("click", () => {
    forget();
    complain("");
    byId("token").focus();
  });
})();
