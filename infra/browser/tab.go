package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// tab is one page of the browser.
type tab struct {
	b       *browser
	session string
	begun   int // events before this are of other tabs
}

// open makes a tab with a profile of its own: no cookies, nothing kept.
func (b *browser) open(ctx context.Context) (*tab, error) {
	t := &tab{b: b, begun: b.position()}
	var made struct {
		BrowserContext string `json:"browserContextId"`
		Target         string `json:"targetId"`
		Session        string `json:"sessionId"`
	}
	if err := b.call(ctx, "", "Target.createBrowserContext", struct{}{}, &made); err != nil {
		return nil, err
	}
	if err := b.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": made.BrowserContext}, &made); err != nil {
		return nil, err
	}
	if err := b.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": made.Target, "flatten": true}, &made); err != nil {
		return nil, err
	}
	t.session = made.Session
	for _, domain := range []string{"Page", "Runtime", "Log", "Accessibility", "DOM"} {
		if err := t.call(ctx, domain+".enable", struct{}{}, nil); err != nil {
			return nil, err
		}
	}
	return t, t.look(ctx, 820, 1000, "light")
}

func (t *tab) call(ctx context.Context, method string, params, result any) error {
	return t.b.call(ctx, t.session, method, params, result)
}

// look sets the size of the window, and the scheme that the person prefers.
func (t *tab) look(ctx context.Context, width, height int, scheme string) error {
	if err := t.call(ctx, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil); err != nil {
		return err
	}
	return t.call(ctx, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// loaded waits until a page has loaded that was asked for by act.
func (t *tab) loaded(ctx context.Context, act func() error) error {
	from := t.b.position()
	if err := act(); err != nil {
		return err
	}
	_, _, err := t.b.await(ctx, from, func(m message) bool { return m.Session == t.session && m.Method == "Page.loadEventFired" })
	return err
}

func (t *tab) navigate(ctx context.Context, address string) error {
	return t.loaded(ctx, func() error {
		var got struct {
			Error string `json:"errorText"`
		}
		if err := t.call(ctx, "Page.navigate", map[string]any{"url": address}, &got); err != nil {
			return err
		}
		if got.Error != "" {
			return fmt.Errorf("the page does not load: %s", got.Error)
		}
		return nil
	})
}

// key presses and lets go.
func (t *tab) key(ctx context.Context, name string) error {
	k := map[string]struct {
		code int
		text string
	}{"Tab": {9, ""}, "Enter": {13, "\r"}, " ": {32, " "}, "ArrowDown": {40, ""}}[name]
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": name, "code": map[string]string{" ": "Space"}[name], "windowsVirtualKeyCode": k.code}
		if params["code"] == "" {
			params["code"] = name
		}
		if kind == "keyDown" && k.text != "" {
			params["text"] = k.text
		}
		if err := t.call(ctx, "Input.dispatchKeyEvent", params, nil); err != nil {
			return err
		}
	}
	return nil
}

// read evaluates an expression on the page.
func (t *tab) read(ctx context.Context, expression string, into any) error {
	var got struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception any `json:"exceptionDetails"`
	}
	if err := t.call(ctx, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &got); err != nil {
		return err
	}
	if got.Exception != nil {
		return fmt.Errorf("the page cannot tell %s", expression)
	}
	return json.Unmarshal(got.Result.Value, into)
}

// focused tells which element has the focus: its id, else its name and value.
func (t *tab) focused(ctx context.Context) (where string, err error) {
	err = t.read(ctx, `(e => e.id || [e.name, e.value].filter(Boolean).join("=") || e.tagName)(document.activeElement)`, &where)
	return where, err
}

// shoot takes a picture of the whole page.
func (t *tab) shoot(ctx context.Context, path string) error { return t.capture(ctx, path, true) }

// shootWindow takes a picture of what the window shows.
func (t *tab) shootWindow(ctx context.Context, path string) error { return t.capture(ctx, path, false) }

func (t *tab) capture(ctx context.Context, path string, whole bool) error {
	var got struct{ Data string }
	if err := t.call(ctx, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &got); err != nil {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// node is what a screen reader is told of an element.
type node struct{ Role, Name, Description string }

func (t *tab) accessible(ctx context.Context) ([]node, error) {
	type value struct {
		Value any `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored                 bool
			Role, Name, Description value
		}
	}
	if err := t.call(ctx, "Accessibility.getFullAXTree", struct{}{}, &tree); err != nil {
		return nil, err
	}
	var all []node
	for _, n := range tree.Nodes {
		if !n.Ignored {
			all = append(all, node{text(n.Role.Value), text(n.Name.Value), text(n.Description.Value)})
		}
	}
	return all, nil
}

func text(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

// complaints are what the browser found wrong with the pages of the tab.
func (t *tab) complaints() (all []string) {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	for _, m := range t.b.events[t.begun:] {
		if m.Session != t.session || m.Method != "Log.entryAdded" {
			continue
		}
		var entry struct {
			Entry struct{ Level, Text string }
		}
		if json.Unmarshal(m.Params, &entry) == nil && entry.Entry.Level != "info" && entry.Entry.Level != "verbose" {
			all = append(all, entry.Entry.Text)
		}
	}
	return all
}

// holds waits until an expression is true on the page, however often that changes.
func (t *tab) holds(ctx context.Context, expression string) error {
	const limit = 10 // s
	var got struct {
		Result struct {
			Value bool `json:"value"`
		} `json:"result"`
		Exception any `json:"exceptionDetails"`
	}
	err := t.call(ctx, "Runtime.evaluate", map[string]any{"awaitPromise": true, "returnByValue": true, "expression": fmt.Sprintf(`new Promise(resolve => {
		const is = () => %s;
		const see = new MutationObserver(() => { if (is()) { see.disconnect(); resolve(true); } });
		see.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
		if (is()) { see.disconnect(); resolve(true); }
		setTimeout(() => { see.disconnect(); resolve(false); }, %d);
	})`, expression, limit*1000)}, &got)
	switch {
	case err != nil:
		return err
	case got.Exception != nil:
		return fmt.Errorf("the page cannot tell %s", expression)
	case !got.Result.Value:
		return fmt.Errorf("after %d s it is not so that %s", limit, expression)
	}
	return nil
}

// appears waits until an element has a text in it, and returns how long that took.
func (t *tab) appears(ctx context.Context, selector, text string) (time.Duration, error) {
	begun := time.Now()
	err := t.holds(ctx, fmt.Sprintf(`(document.querySelector(%q)?.textContent ?? "").includes(%q)`, selector, text))
	return time.Since(begun), err
}
