package monitor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"regexp"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// RuleName names a rule in metrics, findings and docs.
type RuleName string

const (
	DenialBurst            RuleName = "denial_burst"
	Probing                RuleName = "probing"
	DestructiveBurst       RuleName = "destructive_burst"
	DestructiveWithoutRead RuleName = "destructive_without_read"
	FirstDestructiveUse    RuleName = "first_destructive_use"
	ManyNetworks           RuleName = "many_networks"
	CallsAfterRevocation   RuleName = "calls_after_revocation"
	SustainedErrors        RuleName = "sustained_errors"
	AuditTampering         RuleName = "audit_tampering"
)

// Severity orders findings for people.
type Severity string

const (
	Low      Severity = "low"      // worth knowing
	Medium   Severity = "medium"   // look at it today
	High     Severity = "high"     // look at it now
	Critical Severity = "critical" // the record itself is in doubt
)

// SubjectKind is what a rule counts by.
type SubjectKind string

const (
	ByToken     SubjectKind = "token"
	ByActor     SubjectKind = "actor"
	ByTool      SubjectKind = "tool"
	ByWorkspace SubjectKind = "workspace"
)

// Rule is one kind of finding: at least Threshold distinct values among the sightings of one
// subject within Window, and at least Spread between the first and the last. The numbers may be
// changed; what is seen is the rule's own.
type Rule struct {
	Name      RuleName
	Severity  Severity
	Subject   SubjectKind
	Window    time.Duration
	Threshold int
	Spread    time.Duration

	Means string // what it counts, for docs
	Do    string // what to do on a finding, for docs

	// see returns the value that a fact counts as, if the rule is about it. Empty stands for the
	// event itself: no two events are one.
	see func(fact) (value string, ok bool)
	// tell ends the sentence that begins with the subject: "was refused 23 times".
	tell func(count string) string
	// once keeps one sighting for ever, the earliest, instead of a window of each day.
	once bool
}

// GrowthFactor is how far the count of a finding must grow before it is raised again.
const GrowthFactor = 2

// How far back the events before a removal are looked for.
const (
	readWithin    = 24 * time.Hour // a read of the target
	previewWithin = time.Hour      // a preview of the very removal
)

// fact is an event with what was found out about it.
type fact struct {
	audit.Event
	tool     string // Tool, or a word for all that do not exist
	tampered string // the id of the change record, if the row was tampered with
	destroys bool   // it removed something: no preview, no repetition
	// What came before a removal.
	read      bool // the actor had read or written the target
	prepared  bool // the token had previewed this removal, or removed something before
	lookedFor bool // the two above are known
}

// Rules returns the rules with their usual numbers, in the order of the docs.
func Rules() []Rule {
	return []Rule{{
		Name: DenialBurst, Severity: Medium, Subject: ByToken, Window: 10 * time.Minute, Threshold: 25,
		Means: "calls refused, for whatever reason",
		Do:    "See which reasons and tools: an agent that misunderstands a tool needs other instructions; a caller who tries arguments one after the other needs a revoked token.",
		see:   func(f fact) (string, bool) { return "", f.Outcome == fault.Denied },
		tell:  func(n string) string { return "was refused " + times(n) },
	}, {
		Name: Probing, Severity: High, Subject: ByToken, Window: 10 * time.Minute, Threshold: 5,
		Means: "distinct tools refused because they do not exist or the token may not call them",
		Do:    "Somebody finds out what the token can do. Ask its owner; if they did not do it, revoke the token.",
		see:   seeProbing,
		tell: func(n string) string {
			return "was refused " + n + " different tools that it may not call or that do not exist"
		},
	}, {
		Name: DestructiveBurst, Severity: High, Subject: ByActor, Window: 10 * time.Minute, Threshold: 10,
		Means: "removals that took effect",
		Do:    "Ask the actor whether they clean up. If not, revoke the tokens that the events name and restore what was removed: an administrator can for 30 days.",
		see:   func(f fact) (string, bool) { return "", f.destroys },
		tell:  func(n string) string { return "removed " + things(n) },
	}, {
		Name: DestructiveWithoutRead, Severity: Medium, Subject: ByActor, Window: time.Hour, Threshold: 1,
		Means: "removals of something that the actor had neither read, written nor previewed in the 24 hours before",
		Do:    "Look at what was removed. Somebody, or something that a model read, may have named the target; restore it if the owner of the call did not mean it.",
		see:   func(f fact) (string, bool) { return "", f.destroys && f.lookedFor && !f.read },
		tell:  func(n string) string { return "removed " + things(n) + " not looked at before" },
	}, {
		Name: FirstDestructiveUse, Severity: Low, Subject: ByToken, Threshold: 1, once: true,
		Means: "the first removal ever by a token, unless the token had previewed it in the hour before",
		Do:    "A new habit or a new holder. Check that the client is the usual one and that the token needs the scope.",
		see:   seeFirstUse,
		tell:  func(string) string { return "removed something for the first time and without a preview" },
	}, {
		Name: ManyNetworks, Severity: High, Subject: ByToken, Window: 24 * time.Hour, Threshold: 10,
		Means: "distinct networks that calls came from (/24 of IPv4, /48 of IPv6)",
		Do:    "A token in so many places has leaked, or is shared, or belongs to a service with many addresses. Issue one token for each place and revoke this one.",
		see:   seeNetwork,
		tell:  func(n string) string { return "was used from " + n + " networks" },
	}, {
		Name: CallsAfterRevocation, Severity: Medium, Subject: ByToken, Window: time.Hour, Threshold: 5,
		Means: "calls refused because the token is revoked or its owner has left",
		Do:    "Find the program that still holds the token and remove it there. If the token was revoked because it leaked, this is whoever has it: note the addresses.",
		see:   func(f fact) (string, bool) { return "", f.Reason == fault.TokenRevoked },
		tell:  func(n string) string { return "was used " + times(n) + " after it had been revoked" },
	}, {
		Name: SustainedErrors, Severity: Medium, Subject: ByTool, Window: 15 * time.Minute, Threshold: 8, Spread: 3 * time.Minute,
		Means: "calls of one tool that the connector failed, at least 3 minutes from first to last",
		Do:    "The connector is at fault, not the caller. Look for call_id in the log of the tool's function.",
		see:   func(f fact) (string, bool) { return "", f.Outcome == fault.Failed },
		tell:  func(n string) string { return "failed " + times(n) },
	}, {
		Name: AuditTampering, Severity: Critical, Subject: ByWorkspace, Window: 24 * time.Hour, Threshold: 1,
		Means: "audit events changed or removed, other than by the table when their time is over",
		Do:    "No part of the connector can do this. Find the principal in CloudTrail, take its access, and restore the rows from point-in-time recovery or the archive.",
		see:   func(f fact) (string, bool) { return f.tampered, f.tampered != "" },
		tell: func(n string) string {
			return "has an audit log that somebody wrote to: " + counted(n, "row") + " changed or removed"
		},
	}}
}

func times(n string) string  { return counted(n, "time") }
func things(n string) string { return counted(n, "thing") }

func counted(n, noun string) string {
	if n == "1" {
		return "1 " + noun
	}
	return n + " " + noun + "s"
}

func seeProbing(f fact) (string, bool) {
	switch f.Reason {
	case fault.UnknownTool, fault.InsufficientScope:
		return digest(f.Tool), true // callers choose the names: they are counted, not kept
	}
	return "", false
}

const (
	firstPrepared   = "prepared"
	firstUnprepared = "unprepared"
)

// seeFirstUse sees every removal: that it is the first one is for the state to say.
func seeFirstUse(f fact) (string, bool) {
	if f.prepared || !f.lookedFor {
		return firstPrepared, f.destroys
	}
	return firstUnprepared, f.destroys
}

func seeNetwork(f fact) (string, bool) {
	addr, err := netip.ParseAddr(f.SourceIP)
	if err != nil {
		return "", false
	}
	addr, bits := addr.Unmap(), 48
	if addr.Is4() {
		bits = 24
	}
	network, err := addr.WithZone("").Prefix(bits)
	return network.String(), err == nil
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// slots is into how many parts the window of a rule that counts values is cut: of each value one
// sighting in each part is kept.
const slots = 24

// sight makes the sighting of a fact, if the rule is about it. A row that was tampered with is
// no call.
func (r Rule) sight(f fact) (Sighting, bool) {
	if (f.tampered != "") != (r.Name == AuditTampering) {
		return Sighting{}, false
	}
	value, ok := r.see(f)
	if !ok || r.subject(f) == "" {
		return Sighting{}, false
	}
	s := Sighting{Key: f.EventID, At: f.Timestamp.UnixMicro(), Event: f.EventID, Value: value}
	switch {
	case r.once:
		s.Key = string(r.Name)
	case f.tampered != "":
		s.Key = f.tampered
	case value == "":
		s.Value = f.EventID
	default:
		s.Key = fmt.Sprintf("%s@%d", value, s.At/(r.Window.Microseconds()/slots))
	}
	return s, true
}

// renewed is the id of an access token of our own authorization server: its grant, and a number that
// grows with each renewal.
var renewed = regexp.MustCompile(`^(.+)\.[0-9]{1,9}$`)

// holder is what stays of a token's id when the token is renewed.
func holder(tokenID string) string {
	if m := renewed.FindStringSubmatch(tokenID); m != nil {
		return m[1]
	}
	return tokenID
}

// subject is whom or what the fact is about, in the eyes of the rule.
func (r Rule) subject(f fact) string {
	switch r.Subject {
	case ByToken:
		if f.Recorder == audit.RecorderAdmin {
			return "" // operators have none
		}
		return holder(f.TokenID)
	case ByActor:
		return f.Actor
	case ByTool:
		return f.tool
	default:
		return f.WorkspaceID
	}
}
