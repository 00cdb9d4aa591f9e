package monitor

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// streamRecord is the data of one Kinesis record as DynamoDB's streaming destination writes it.
// It resembles a record of DynamoDB Streams and is none: the time is in milli- or microseconds.
// Source: Amazon DynamoDB Developer Guide, "Kinesis Data Streams for DynamoDB".
type streamRecord struct {
	EventID      string        `json:"eventID"`
	EventName    string        `json:"eventName"`
	EventSource  string        `json:"eventSource"`
	RecordFormat string        `json:"recordFormat"`
	TableName    string        `json:"tableName,omitempty"`
	UserIdentity *userIdentity `json:"userIdentity"`
	DynamoDB     streamChange  `json:"dynamodb"`
	// Replay is ours: the record was rebuilt from the table, so the calls were counted before.
	Replay bool `json:"replay,omitempty"`
}

type userIdentity struct {
	Type        string `json:"type"`
	PrincipalID string `json:"principalId"`
}

type streamChange struct {
	At        json.Number `json:"ApproximateCreationDateTime"`
	Precision string      `json:"ApproximateCreationDateTimePrecision,omitempty"`
	Keys      image       `json:"Keys"`
	NewImage  image       `json:"NewImage,omitempty"`
	OldImage  image       `json:"OldImage,omitempty"`
	SizeBytes int         `json:"SizeBytes,omitempty"`
}

// Kind is what happened to a row of the audit table.
type Kind int

const (
	Recorded Kind = iota // an event was recorded
	Expired              // an event's time was over, and the table removed it
	Tampered             // an event was changed or removed: nothing of ours does that
)

// Change is a decoded record.
type Change struct {
	Kind Kind
	// ID tells the record from others; the same record comes with the same id again.
	ID string
	// Event is what was recorded. Of a row that was tampered with it is what stood there, as far
	// as that can be read; only its workspace is always set.
	Event  audit.Event
	At     time.Time // when the table changed, UTC
	Replay bool      // rebuilt from the table: count nothing
}

// Reasons for which a record is set aside. They are words for logs and alarms.
const (
	NotJSON      = "not_json"       // no JSON, or not of the shape of a record
	OtherFormat  = "other_format"   // not a record of a DynamoDB table, or a format we do not know
	UnknownName  = "unknown_change" // not INSERT, MODIFY or REMOVE
	NoTime       = "no_time"        // it does not say when
	BadImage     = "bad_image"      // an attribute that the connector does not write
	NotAnEvent   = "not_an_event"   // the row is no audit event
	KeyMismatch  = "key_mismatch"   // the row lies under the key of another event
	unknownOwner = "unknown"        // the workspace of a row that says nothing
)

// Limits of what is taken from an event. State that is bounded needs ids that are.
const (
	maxEventID = 64  // bytes; a ULID has 26
	maxID      = 256 // bytes, of any other id
)

// Poison is a record that no retry will make readable.
type Poison struct {
	Reason string
	cause  error
}

func (p *Poison) Error() string {
	if p.cause == nil {
		return p.Reason
	}
	return p.Reason + ": " + p.cause.Error()
}

func poison(reason string, cause error) error { return &Poison{Reason: reason, cause: cause} }

// Decode reads the data of one record. Its error is a *Poison.
func Decode(data []byte) (Change, error) {
	var r streamRecord
	if err := json.Unmarshal(data, &r); err != nil {
		return Change{}, poison(NotJSON, nil) // its words would quote the record
	}
	if r.EventSource != "aws:dynamodb" || r.RecordFormat != "" && r.RecordFormat != "application/json" {
		return Change{}, poison(OtherFormat, nil)
	}
	at, err := r.DynamoDB.at()
	if err != nil {
		return Change{}, err
	}
	c := Change{ID: r.EventID, At: at, Replay: r.Replay}
	switch r.EventName {
	case "INSERT":
		c.Event, err = r.DynamoDB.recorded()
		return c, err
	case "MODIFY", "REMOVE":
		c.Kind = Tampered
		if r.expired(at) {
			c.Kind = Expired
		}
		c.Event = r.DynamoDB.lost()
		return c, nil
	default:
		return Change{}, poison(UnknownName, nil)
	}
}

func (c streamChange) at() (time.Time, error) {
	n, err := c.At.Int64()
	if err != nil || n <= 0 {
		return time.Time{}, poison(NoTime, nil)
	}
	if c.Precision == "MICROSECOND" {
		return time.UnixMicro(n).UTC(), nil
	}
	return time.UnixMilli(n).UTC(), nil
}

// recorded reads the new row, which must be an event under its own key.
func (c streamChange) recorded() (audit.Event, error) {
	doc, err := c.NewImage.document()
	if err != nil {
		return audit.Event{}, poison(BadImage, err)
	}
	var e audit.Event
	if err := json.Unmarshal(doc, &e); err != nil || !isEvent(e) {
		return audit.Event{}, poison(NotAnEvent, nil)
	}
	key := e.Key()
	if c.Keys.text(schema.PK) != key.PK || c.Keys.text(schema.SK) != key.SK {
		return audit.Event{}, poison(KeyMismatch, nil)
	}
	return e, nil
}

// isEvent tells whether the members that the rules and the metrics stand on are there.
func isEvent(e audit.Event) bool {
	switch e.Outcome {
	case fault.Success, fault.Denied, fault.Failed:
	default:
		return false
	}
	for _, id := range []string{e.EventID, e.WorkspaceID, e.Actor, e.Tool, e.Recorder} {
		if id == "" || len(id) > maxID {
			return false
		}
	}
	return len(e.EventID) <= maxEventID && len(e.TokenID) <= maxID && len(e.Target) <= maxID && !e.Timestamp.IsZero()
}

// lost reads what it can of a row that is gone or changed. Whatever is wrong with it must not
// hide that it was tampered with.
func (c streamChange) lost() audit.Event {
	var e audit.Event
	if doc, err := c.OldImage.document(); err == nil {
		if json.Unmarshal(doc, &e) != nil || !isEvent(e) {
			e = audit.Event{}
		}
	}
	if e.WorkspaceID == "" {
		e.WorkspaceID = workspaceOf(c.Keys.text(schema.PK))
	}
	return e
}

// workspaceOf reads the partition key of the audit table, T#<recorder>#<workspace>#<day>.
func workspaceOf(pk string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(pk, "T#"), "#")
	if i := strings.LastIndexByte(rest, '#'); i > 0 && i <= maxID {
		return rest[:i]
	}
	return unknownOwner
}

// expired tells whether it was the table itself that removed a row whose time was over.
func (r streamRecord) expired(at time.Time) bool {
	if r.EventName != "REMOVE" || r.UserIdentity == nil ||
		r.UserIdentity.Type != "Service" || r.UserIdentity.PrincipalID != "dynamodb.amazonaws.com" {
		return false
	}
	ttl := r.DynamoDB.OldImage.number(schema.TTL)
	return ttl > 0 && ttl <= at.Unix()
}

// RecordOf makes the record that the stream carries for an item appended to the audit table. It
// is for feeds without a stream: local mode, tests and replays. A replay is judged by the rules
// like the first time, and counted in no metric.
func RecordOf(it table.Item, at time.Time, replay bool) ([]byte, error) {
	im, err := imageOf(it)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]any{
		"eventID": it.SK, "eventName": "INSERT", "eventSource": "aws:dynamodb", "recordFormat": "application/json",
		"tableName": it.Table.String(), "userIdentity": nil, "replay": replay,
		"dynamodb": map[string]any{
			"ApproximateCreationDateTime": at.UnixMicro(), "ApproximateCreationDateTimePrecision": "MICROSECOND",
			"Keys":     map[string]any{schema.PK: typed(it.PK), schema.SK: typed(it.SK)},
			"NewImage": im, "SizeBytes": it.Size(),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("make a stream record: %w", err)
	}
	return data, nil
}

// ReplayOf makes the record of an event that was read from the log.
func ReplayOf(e audit.Event, at time.Time) ([]byte, error) {
	doc, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode an event: %w", err)
	}
	return RecordOf(table.Item{Key: e.Key(), Doc: doc, Version: 1}, at, true)
}
