package budget

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
)

// job is a request for the engine, taken out of the bubble.
type job struct {
	url    string
	header http.Header
	body   []byte
	images bool // wanted: the items to be written, before and after
	done   chan answer
}

type answer struct {
	status        int
	header        http.Header
	body          []byte
	before, after map[string]item // by address
	err           error
}

// engine makes requests outside the bubble. Its channels were made there too: a wait for them
// does not let the clock of the bubble move.
type engine struct {
	jobs chan job
	free chan chan answer
}

// atOnce bounds the requests that one call makes side by side.
const atOnce = 8

func newEngine(ctx context.Context) *engine {
	e := &engine{jobs: make(chan job), free: make(chan chan answer, atOnce)}
	for range atOnce {
		e.free <- make(chan answer, 1)
		go func() {
			for {
				select {
				case j := <-e.jobs:
					j.done <- j.run(ctx)
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return e
}

func (e *engine) ask(j job) answer {
	j.done = <-e.free
	e.jobs <- j
	a := <-j.done
	e.free <- j.done
	return a
}

func (j job) run(ctx context.Context) answer {
	var keys []address
	var before, after map[string]item
	if j.images {
		var err error
		if keys, err = written(j.body); err == nil {
			before, err = j.look(ctx, keys)
		}
		if err != nil {
			return answer{err: err}
		}
	}
	a := j.send(ctx, j.header.Get("X-Amz-Target"), j.body)
	if j.images && a.err == nil {
		after, a.err = j.look(ctx, keys)
	}
	a.before, a.after = before, after
	return a
}

func (j job) send(ctx context.Context, target string, body []byte) answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, j.url, bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	req.Header = j.header.Clone()
	req.Header.Set("X-Amz-Target", target)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: got, err: err}
}

// address is one item of one table.
type address struct {
	table string
	key   item
}

func (a address) String() string {
	return a.table + " " + string(a.key[schema.PK]["S"]) + " " + string(a.key[schema.SK]["S"])
}

// look reads the items as they are.
func (j job) look(ctx context.Context, keys []address) (map[string]item, error) {
	images := map[string]item{}
	for _, a := range keys {
		body, err := json.Marshal(map[string]any{"TableName": a.table, "Key": a.key, "ConsistentRead": true})
		if err != nil {
			return nil, err
		}
		got := j.send(ctx, "DynamoDB_20120810.GetItem", body)
		var found struct{ Item item }
		if err := errors.Join(got.err, json.Unmarshal(got.body, &found)); err != nil {
			return nil, fmt.Errorf("look at an item to be written: %w", err)
		}
		images[a.String()] = found.Item
	}
	return images, nil
}
