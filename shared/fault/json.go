package fault

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// PublicJSON returns the error as a caller reads it, over REST and in MCP alike:
// {"error": …, "reason": …, <members>, "call_id": …}. An empty call id is left out.
func (f *Fault) PublicJSON(callID string) []byte {
	members := append([]Member{{"error", f.Text}, {"reason", f.Reason}}, f.Members...)
	if f.RetryAfter > 0 {
		members = append(members, Member{"retry_after_s", f.retrySeconds()})
	}
	if callID != "" {
		members = append(members, Member{"call_id", callID})
	}
	return object(members)
}

// JSONRPC returns the error as a JSON-RPC 2.0 response: code and message are the protocol's, data
// is the error as REST has it. id is JSON; MCP has no null id, so without one the member is left out.
func (f *Fault) JSONRPC(id []byte, code int, message, callID string) []byte {
	members := []Member{{"jsonrpc", "2.0"}, {"id", json.RawMessage(id)}, {"error", json.RawMessage(object([]Member{
		{"code", code}, {"message", message}, {"data", json.RawMessage(f.PublicJSON(callID))},
	}))}}
	if len(id) == 0 {
		members = slices.Delete(members, 1, 2)
	}
	return object(members)
}

// RetryAfterSeconds returns the value for a Retry-After header (RFC 9110, section 10.2.3), 0
// for none. Parts of a second count as one.
func (f *Fault) RetryAfterSeconds() int { return int(f.retrySeconds()) }

func (f *Fault) retrySeconds() int64 {
	return int64((f.RetryAfter + time.Second - 1) / time.Second)
}

// object writes members in the given order; encoding/json would sort a map.
func object(members []Member) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.Name))
		b.WriteByte(':')
		b.Write(encode(m.Value))
	}
	b.WriteByte('}')
	return b.Bytes()
}

func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		return []byte(`null`) // a member that cannot be encoded is a programming error; the rest still helps
	}
	return out
}

// wire is a fault between two of our functions.
type wire struct {
	Kind       string   `json:"kind"`
	Reason     Reason   `json:"reason"`
	Text       string   `json:"text"`
	Members    []wireKV `json:"members,omitempty"`
	RetryAfter int64    `json:"retry_after,omitempty"` // seconds
}

type wireKV struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// MarshalJSON encodes the fault for another of our functions. Cause and Detail stay behind.
func (f *Fault) MarshalJSON() ([]byte, error) {
	w := wire{Kind: f.Kind.String(), Reason: f.Reason, Text: f.Text, RetryAfter: f.retrySeconds()}
	for _, m := range f.Members {
		w.Members = append(w.Members, wireKV{m.Name, encode(m.Value)})
	}
	return json.Marshal(w)
}

// UnmarshalJSON decodes what MarshalJSON wrote. An unknown kind is Internal.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*f = Fault{Kind: KindNamed(w.Kind), Reason: w.Reason, Text: w.Text, RetryAfter: time.Duration(w.RetryAfter) * time.Second}
	for _, m := range w.Members {
		f.Members = append(f.Members, Member{m.Name, m.Value})
	}
	return nil
}
