package toolstest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

// names writes ids as people read them, both ways:
//
//	<Mira> <Atlas> <label bug> <Backlog triage>   who and what is in the demo data
//	<AAC-42> <AAC-42 comment 1> <task 3> <run 2>  in order of time
//	<new 1>                                       the first id made in this case
//	<cursor 1>                                    the first cursor that came back
type names struct {
	ids     map[string]string // name to id
	names   map[string]string // id to name
	made    int
	cursors []string
}

func namesOf(snapshots []records.Snapshot) *names {
	n := &names{ids: map[string]string{}, names: map[string]string{}}
	tasks, runs := 0, 0
	for _, s := range snapshots {
		n.add(s.Workspace.ID, "workspace "+s.Workspace.IssuePrefix)
		for _, m := range s.Members {
			n.add(m.UserID, firstName(m.Name))
		}
		for _, a := range s.Agents {
			n.add(a.ID, a.Name)
		}
		for _, l := range s.Labels {
			n.add(l.ID, "label "+l.Name)
		}
		for _, a := range s.Autopilots {
			n.add(a.ID, a.Title)
		}
		for _, i := range s.Issues {
			n.addIssue(s.Workspace.IssuePrefix, i)
		}
		for _, t := range s.Tasks {
			tasks++
			n.add(t.ID, fmt.Sprintf("task %d", tasks))
		}
		for _, r := range s.Runs {
			runs++
			n.add(r.ID, fmt.Sprintf("run %d", runs))
		}
	}
	return n
}

func (n *names) addIssue(prefix string, i records.IssueSnapshot) {
	identifier := fmt.Sprintf("%s-%d", prefix, i.Number)
	n.add(i.ID, identifier)
	comments := slices.SortedFunc(slices.Values(i.Comments), func(a, b records.CommentSnapshot) int {
		return int(a.CreatedAt - b.CreatedAt)
	})
	for k, c := range comments {
		n.add(c.ID, fmt.Sprintf("%s comment %d", identifier, k+1))
	}
}

// add names an id. A name that is taken gets a number, as with two members of one name.
func (n *names) add(id tracker.ID, name string) {
	for k := 2; n.ids[name] != ""; k++ {
		name = fmt.Sprintf("%s %d", strings.TrimRight(name, " 0123456789"), k)
	}
	n.ids[name], n.names[string(id)] = string(id), name
}

func firstName(name string) string {
	first, _, _ := strings.Cut(name, " ")
	return first
}

// newID makes the next id of a case: a UUID of version 7 that counts.
func (n *names) newID() tracker.ID {
	n.made++
	id := tracker.ID(fmt.Sprintf("01979830-0000-7000-8000-%012d", n.made))
	n.add(id, fmt.Sprintf("new %d", n.made))
	return id
}

var (
	uuidInText   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	nameInText   = regexp.MustCompile(`<[A-Za-z][A-Za-z0-9 -]*>`)
	cursorInText = regexp.MustCompile(`("next_cursor": *")([^"]+)(")`)
)

// write replaces ids and cursors in an answer by names.
func (n *names) write(text string) string {
	text = cursorInText.ReplaceAllStringFunc(text, func(m string) string {
		parts := cursorInText.FindStringSubmatch(m)
		n.cursors = append(n.cursors, parts[2])
		return fmt.Sprintf("%s<cursor %d>%s", parts[1], len(n.cursors), parts[3])
	})
	return uuidInText.ReplaceAllStringFunc(text, func(id string) string {
		if name, ok := n.names[id]; ok {
			return "<" + name + ">"
		}
		return id
	})
}

// read replaces names in arguments by what they stand for. What is no name stays.
func (n *names) read(text string) string {
	return nameInText.ReplaceAllStringFunc(text, func(m string) string {
		name := strings.Trim(m, "<>")
		var k int
		if _, err := fmt.Sscanf(name, "cursor %d", &k); err == nil && k >= 1 && k <= len(n.cursors) {
			return n.cursors[k-1]
		}
		if id, ok := n.ids[name]; ok {
			return id
		}
		return m
	})
}
