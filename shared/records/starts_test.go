package records

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

const (
	atlasID = tracker.ID("11111111-aaaa-4aaa-8aaa-111111111111")
	scribID = tracker.ID("22222222-bbbb-4bbb-8bbb-222222222222")
	miraID  = tracker.ID("33333333-cccc-4ccc-8ccc-333333333333")
)

func link(kind string, id tracker.ID) string {
	return "[@Name](mention://" + kind + "/" + string(id) + ")"
}

func TestCalledBy(t *testing.T) {
	var many strings.Builder
	var firstTen []tracker.ID
	for _, c := range "0123456789ab" {
		id := tracker.ID(strings.Replace(string(atlasID), "1111111", strings.Repeat(string(c), 7), 1))
		many.WriteString(link("agent", id) + " ")
		if len(firstTen) < tracker.MaxMentions {
			firstTen = append(firstTen, id)
		}
	}
	agents := func(ids ...tracker.ID) []tracker.ID { return ids }
	byAgent := &commentRow{AuthorType: tracker.AgentActor, AuthorID: scribID}
	byMember := &commentRow{AuthorType: tracker.MemberActor, AuthorID: miraID}
	bySystem := &commentRow{AuthorType: tracker.SystemActor}
	ofAtlas := issueRow{AssigneeType: tracker.AgentActor, AssigneeID: atlasID, Status: tracker.Done}
	ofMira := issueRow{AssigneeType: tracker.MemberActor, AssigneeID: miraID}

	tests := []struct {
		name    string
		content string
		parent  *commentRow
		issue   issueRow
		want    []tracker.ID
	}{
		{"top level calls the assigned agent, whatever the status", "please look", nil, ofAtlas, agents(atlasID)},
		{"top level, a member's issue", "please look", nil, ofMira, nil},
		{"top level, nobody's issue", "please look", nil, issueRow{}, nil},
		{"a note calls nobody", "/note for us", nil, ofAtlas, nil},
		{"a note that mentions", "/note " + link("agent", atlasID), nil, ofAtlas, nil},
		{"a note in capitals, indented", " /NOTE x", nil, ofAtlas, nil},
		{"a bare note", "/note", nil, ofAtlas, nil},
		{"a note and a line break", "/note\nx", nil, ofAtlas, nil},
		{"another word that starts alike", "/notes", nil, ofAtlas, agents(atlasID)},
		{"a hyphenated word", "/note-taking", nil, ofAtlas, agents(atlasID)},
		{"a note later on", "see /note", nil, ofAtlas, agents(atlasID)},
		{"a mention calls exactly that agent", link("agent", scribID), nil, ofAtlas, agents(scribID)},
		{"an id in capitals", link("agent", tracker.ID(strings.ToUpper(string(scribID)))), nil, ofAtlas, agents(scribID)},
		{"two agents on a line, one twice", link("agent", scribID) + link("agent", atlasID) + link("agent", scribID), nil, ofMira, agents(scribID, atlasID)},
		{"a mention beats the thread", link("agent", atlasID), byAgent, ofMira, agents(atlasID)},
		{"an agent and a member", link("member", miraID) + link("agent", scribID), nil, ofAtlas, agents(scribID)},
		{"a member alone", link("member", miraID), nil, ofAtlas, nil},
		{"a member, in answer to an agent", link("member", miraID), byAgent, ofAtlas, nil},
		{"all", "[@all](mention://all/all) hear", nil, ofAtlas, nil},
		{"an answer to an agent", "thanks", byAgent, ofAtlas, agents(scribID)},
		{"an answer to a member", "thanks", byMember, ofAtlas, nil},
		{"an answer to the system", "thanks", bySystem, ofAtlas, nil},
		{"more than can be called", many.String(), nil, ofAtlas, firstTen},
		{"no id", "[@Name](mention://agent/atlas)", nil, ofMira, nil},
		{"no at sign", "[Name](mention://agent/" + string(atlasID) + ")", nil, ofMira, nil},
		{"a link before it", "[@x](https://example.com) " + link("agent", atlasID), nil, ofMira, agents(atlasID)},
		{"brackets in the name", "[@Name [x]](mention://agent/" + string(atlasID) + ")", nil, ofMira, agents(atlasID)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, calledBy(test.content, test.parent, test.issue)); diff != "" {
				t.Errorf("called (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStartsOnStatus(t *testing.T) {
	var started []string
	for _, from := range tracker.Todo.Values() {
		for _, to := range tracker.Todo.Values() {
			if startsOnStatus(tracker.Status(from), tracker.Status(to)) {
				started = append(started, from+" "+to)
			}
		}
	}
	want := []string{"backlog todo", "backlog in_progress", "backlog in_review", "backlog blocked"}
	if diff := cmp.Diff(want, started); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
}

func TestStartsOnAssign(t *testing.T) {
	has := func(s tracker.Status, parked bool) issueRow {
		return issueRow{Status: s, AssigneeType: tracker.AgentActor, AssigneeID: atlasID, Parked: parked}
	}
	tests := []struct {
		name     string
		before   issueRow
		suppress bool
		want     assignmentStart
	}{
		{"a new agent", issueRow{Status: tracker.Todo}, false, startAgent},
		{"in place of another", issueRow{Status: tracker.Todo, AssigneeType: tracker.AgentActor, AssigneeID: scribID, Parked: true}, false, startAgent},
		{"a closed issue", issueRow{Status: tracker.Done}, false, startAgent},
		{"suppressed", issueRow{Status: tracker.Todo}, true, holdAgentUp},
		{"in the backlog", issueRow{Status: tracker.Backlog}, false, parkAgent},
		{"in the backlog, suppressed", issueRow{Status: tracker.Backlog}, true, parkAgent},
		{"has it and was started", has(tracker.Todo, false), false, keepAsIs},
		{"has it and was started, back in the backlog", has(tracker.Backlog, false), false, keepAsIs},
		{"has it, parked, out of the backlog", has(tracker.Todo, true), false, startAgent},
		{"has it, parked, suppressed again", has(tracker.Todo, true), true, holdAgentUp},
		{"has it, parked, in the backlog", has(tracker.Backlog, true), false, parkAgent},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := startsOnAssign(test.before, atlasID, test.suppress); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}
