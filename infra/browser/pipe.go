package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// browser is a running Chromium that is spoken to over two pipes: one JSON message each, ended by
// a zero byte (chromium, --remote-debugging-pipe).
type browser struct {
	cmd   *exec.Cmd
	to    *os.File
	words *bytes.Buffer // what it says on stderr

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	events  []message
	changed chan struct{} // closed at the next event
	gone    error
}

// message is what goes either way.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// maxMessage bounds one message, in bytes: a picture is the largest.
const maxMessage = 64 << 20

func start(program, dir string) (*browser, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	arguments := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=" + dir, "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars", "about:blank",
	}
	if os.Geteuid() == 0 {
		arguments = append([]string{"--no-sandbox"}, arguments...) // the sandbox is not made for root, as in a container
	}
	b := &browser{cmd: exec.Command(program, arguments...), to: ours, words: &bytes.Buffer{}, waiting: map[int]chan message{}, changed: make(chan struct{})}
	b.cmd.Stderr = b.words
	b.cmd.ExtraFiles = []*os.File{theirs, theirOut} // 3 and 4
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the browser: %w", err)
	}
	if err := errors.Join(theirs.Close(), theirOut.Close()); err != nil {
		return nil, err
	}
	go b.listen(from)
	return b, nil
}

// close ends the browser and waits for it.
func (b *browser) close() error {
	_ = b.to.Close() // it ends when nobody speaks to it any more
	_ = b.cmd.Process.Kill()
	err := b.cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}

// listen hands out answers and collects events, until the browser is gone.
func (b *browser) listen(from *os.File) {
	defer from.Close()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxMessage)
	lines.Split(func(data []byte, _ bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		return 0, nil, nil
	})
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			b.take(m)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = errors.New("the browser is gone")
	for _, c := range b.waiting {
		close(c)
	}
	clear(b.waiting)
	close(b.changed)
}

func (b *browser) take(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.ID != 0 {
		if c, ok := b.waiting[m.ID]; ok {
			c <- m
			delete(b.waiting, m.ID)
		}
		return
	}
	b.events = append(b.events, m)
	close(b.changed)
	b.changed = make(chan struct{})
}

// call asks for something, and decodes the answer into result, if that is not nil.
func (b *browser) call(ctx context.Context, session, method string, params, result any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	if b.gone != nil {
		b.mu.Unlock()
		return b.gone
	}
	b.last++
	m := message{ID: b.last, Session: session, Method: method, Params: body}
	b.waiting[m.ID] = answer
	line, err := json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(line, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case got, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: the browser is gone", method)
		case got.Error != nil:
			return fmt.Errorf("%s: %s", method, got.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(got.Result, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// await returns the first event at or behind a position that fits, and the position behind it.
func (b *browser) await(ctx context.Context, from int, fits func(message) bool) (message, int, error) {
	for {
		b.mu.Lock()
		events, changed, gone := b.events, b.changed, b.gone
		b.mu.Unlock()
		for ; from < len(events); from++ {
			if fits(events[from]) {
				return events[from], from + 1, nil
			}
		}
		if gone != nil {
			return message{}, from, gone
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return message{}, from, ctx.Err()
		}
	}
}

// position is where the next event will be.
func (b *browser) position() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.events)
}
