package tracker

import (
	"encoding/json"
	"slices"
	"strings"
)

// Status is where an issue stands.
type Status string

const (
	Backlog    Status = "backlog"
	Todo       Status = "todo"
	InProgress Status = "in_progress"
	InReview   Status = "in_review"
	Done       Status = "done"
	Blocked    Status = "blocked"
	Cancelled  Status = "cancelled"
)

// Values lists all statuses.
func (Status) Values() []string {
	return []string{"backlog", "todo", "in_progress", "in_review", "done", "blocked", "cancelled"}
}

// Priority is how much an issue matters.
type Priority string

const (
	Urgent     Priority = "urgent"
	High       Priority = "high"
	Medium     Priority = "medium"
	Low        Priority = "low"
	NoPriority Priority = "none"
)

// Values lists all priorities, most urgent first.
func (Priority) Values() []string { return []string{"urgent", "high", "medium", "low", "none"} }

// Sort is what a list of issues is ordered by.
type Sort string

const (
	SortUpdated Sort = "updated_at"
	SortCreated Sort = "created_at" // the order of their numbers
)

// Values lists all orders.
func (Sort) Values() []string { return []string{"updated_at", "created_at"} }

// Direction is which end of an order comes first.
type Direction string

const (
	Ascending  Direction = "asc"
	Descending Direction = "desc"
)

// Values lists both directions.
func (Direction) Values() []string { return []string{"asc", "desc"} }

// Clearable is a field of an issue that can be emptied.
type Clearable string

const (
	ClearAssignee  Clearable = "assignee_id"
	ClearParent    Clearable = "parent_issue_id"
	ClearStartDate Clearable = "start_date"
	ClearDueDate   Clearable = "due_date"
)

// Values lists the fields that can be emptied.
func (Clearable) Values() []string {
	return []string{"assignee_id", "parent_issue_id", "start_date", "due_date"}
}

func (s *Status) UnmarshalText(b []byte) error    { return decodeEnum(b, s) }
func (p *Priority) UnmarshalText(b []byte) error  { return decodeEnum(b, p) }
func (s *Sort) UnmarshalText(b []byte) error      { return decodeEnum(b, s) }
func (d *Direction) UnmarshalText(b []byte) error { return decodeEnum(b, d) }
func (c *Clearable) UnmarshalText(b []byte) error { return decodeEnum(b, c) }

// Enum is a closed set of words.
type Enum interface {
	~string
	Values() []string
}

func decodeEnum[E Enum](b []byte, to *E) error {
	if !slices.Contains((*to).Values(), string(b)) {
		return invalid("must be one of %s", strings.Join((*to).Values(), ", "))
	}
	*to = E(b)
	return nil
}

// List is a list argument: at most MaxList values, none twice.
type List[T comparable] []T

func (l *List[T]) UnmarshalJSON(b []byte) error {
	var values []T
	if err := json.Unmarshal(b, &values); err != nil {
		return itemError(err)
	}
	if len(values) > MaxList {
		return invalid("must hold at most %d values", MaxList)
	}
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return invalid("must not hold a value twice")
		}
	}
	*l = values
	if *l == nil {
		*l = List[T]{}
	}
	return nil
}

// itemError keeps our own words and replaces the decoder's, which repeat the caller's.
func itemError(err error) error {
	if asFault(err) {
		return err
	}
	return invalid("must be a list of strings")
}

// Opt is an argument that may be absent, where absent differs from empty.
type Opt[T any] struct {
	Set   bool
	Value T
}

// Some returns an argument that is given.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, Value: v} }

// IsZero tells encoders to leave an absent argument out.
func (o Opt[T]) IsZero() bool { return !o.Set }

func (o Opt[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &o.Value); err != nil {
		if asFault(err) {
			return err
		}
		return invalid("must be a value of the type that the input schema says")
	}
	o.Set = true
	return nil
}
