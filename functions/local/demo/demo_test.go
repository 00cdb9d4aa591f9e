package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/records"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

var anchor = time.Date(2025, 6, 22, 15, 30, 0, 0, time.UTC)

func home(t *testing.T) records.Snapshot {
	t.Helper()
	s := Snapshots(anchor)
	if len(s) != 2 {
		t.Fatalf("%d workspaces", len(s))
	}
	return s[0]
}

// goldenHash is the SHA-256 of the data for 2025-06-22. Documentation and walks name what is in
// them, so a change here is a change there: make it knowingly.
const goldenHash = "66251e946672155a45cf550842ca44efe536ad562eb9d3fa4188eba690c96031"

func TestSameAnchorSameBytes(t *testing.T) {
	hash := func(at time.Time) string {
		b, err := json.Marshal(Snapshots(at))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:])
	}
	if got := hash(anchor); got != goldenHash {
		t.Errorf("the data for 2025-06-22 have the hash %s; if that is meant, write it into goldenHash", got)
	}
	tokyo := time.FixedZone("", 9*3600)
	for _, same := range []time.Time{anchor.Truncate(24 * time.Hour), time.Date(2025, 6, 23, 8, 59, 59, 0, tokyo)} {
		if hash(same) != goldenHash {
			t.Errorf("%s gives other data than the same UTC day", same)
		}
	}
	if hash(anchor.AddDate(0, 0, 1)) == goldenHash {
		t.Error("the next day gives the same data")
	}
}

// TestChoicesStandAlone makes the data while other choices are asked for in between, and looks
// whether any label serves two purposes.
func TestChoicesStandAlone(t *testing.T) {
	asked := map[string]int{}
	disturbed := newGenerator(anchor, func(label string, n int) int {
		if before, ok := asked[label]; ok && before != n {
			t.Errorf("%s chooses one of %d, and one of %d", label, before, n)
		}
		asked[label] = n
		choose("added/"+label, 7)
		return choose(label, n)
	})
	got := []records.Snapshot{disturbed.home(), disturbed.foreign()}
	if diff := cmp.Diff(Snapshots(anchor), got); diff != "" {
		t.Errorf("more choices shift others:\n%s", diff)
	}
	if len(asked) < 500 {
		t.Errorf("saw only %d choices", len(asked))
	}
	if got := []int{choose("issue/17/priority", 100), choose("issue/18/priority", 100)}; !slices.Equal(got, []int{87, 4}) {
		t.Errorf("choices have moved: %v", got)
	}
}

func TestIdsDoNotRepeat(t *testing.T) {
	seen := map[tracker.ID]string{}
	add := func(what string, id tracker.ID) {
		if !tracker.IsID(string(id)) {
			t.Errorf("%s: %q is no id", what, id)
		}
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s share an id", what, other)
		}
		seen[id] = what
	}
	for _, s := range Snapshots(anchor) {
		add(s.Workspace.Name, s.Workspace.ID)
		for _, m := range s.Members {
			add(m.Name, m.UserID)
		}
		for _, a := range s.Agents {
			add(a.Name, a.ID)
		}
		for _, a := range s.Autopilots {
			add(a.Title, a.ID)
		}
		for _, l := range s.Labels {
			add(l.Name, l.ID)
		}
		for _, i := range s.Issues {
			add(i.Title, i.ID)
			for k, c := range i.Comments {
				add(fmt.Sprintf("%s, comment %d", i.Title, k), c.ID)
			}
		}
		for _, task := range s.Tasks {
			add("task", task.ID)
		}
		for _, r := range s.Runs {
			add("run", r.ID)
		}
	}
}

func TestWorkspaces(t *testing.T) {
	all := Snapshots(anchor)
	type facts struct {
		Name, Prefix  string
		Next, Issues  int
		Owner         string
		Members       int
		Agents, Pilot int
		Labels        int
	}
	var got []facts
	for _, s := range all {
		f := facts{s.Workspace.Name, s.Workspace.IssuePrefix, s.NextNumber, len(s.Issues), "", len(s.Members), len(s.Agents), len(s.Autopilots), len(s.Labels)}
		for _, m := range s.Members {
			if m.Role == identity.Owner {
				f.Owner += m.Name
			}
		}
		got = append(got, f)
	}
	want := []facts{
		{"AACWorkflow Demo", "AAC", 63, 62, "Mira Okafor", 5, 4, 3, 7},
		{"Northwind", "NOR", 4, 3, "Ada Berg", 1, 0, 0, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workspaces (-want +got):\n%s", diff)
	}
}

func TestStatuses(t *testing.T) {
	s := home(t)
	letter := map[tracker.Status]string{"backlog": "b", "todo": "t", "in_progress": "p", "in_review": "r", "done": "d", "blocked": "k", "cancelled": "c"}
	var got strings.Builder
	live := 0
	for k, i := range s.Issues {
		if i.Number != k+1 {
			t.Fatalf("issue %d stands at position %d", i.Number, k)
		}
		if k > 0 && k%10 == 0 {
			got.WriteString(" ")
		}
		if i.Deleted != nil {
			got.WriteString("x")
			continue
		}
		got.WriteString(letter[i.Status])
		live++
	}
	const want = "ddddrbddtd ddxptddtbc drtpkrpdxd tptrbdcdbt ppptkbdptb rttbdcpktb rt"
	if got.String() != want || live != 60 {
		t.Errorf("%d live issues, statuses\n%s, want\n%s", live, got.String(), want)
	}
}

func TestTombstones(t *testing.T) {
	s := home(t)
	day := anchor.Truncate(24 * time.Hour)
	for n, days := range map[int]int{13: 5, 29: 40} {
		i := s.Issues[n-1]
		if got := timeOf(i.Deleted.At).Truncate(24 * time.Hour); !got.Equal(day.AddDate(0, 0, -days)) {
			t.Errorf("AAC-%d was deleted on %s", n, got)
		}
		purged := n == 29
		if restorable := timeOf(i.Deleted.RestorableUntil).After(anchor); restorable == purged {
			t.Errorf("AAC-%d restorable: %v", n, restorable)
		}
		if (i.Title == "") != purged {
			t.Errorf("AAC-%d has the title %q", n, i.Title)
		}
		if purged && (i.Description != "" || len(i.Comments) > 0 || len(i.LabelIDs) > 0 || i.AssigneeID != "") {
			t.Errorf("AAC-%d is not bare: %+v", n, i)
		}
		if !purged && i.Deleted.Removed.Comments != len(i.Comments) {
			t.Errorf("AAC-%d says that %d comments went with it, but has %d", n, i.Deleted.Removed.Comments, len(i.Comments))
		}
	}
}

// TestTimes: numbers follow time, nothing is later than the anchor, and an issue's own things
// happen in order.
func TestTimes(t *testing.T) {
	day := anchor.Truncate(24 * time.Hour)
	s := home(t)
	past := func(what string, at records.Micros) {
		if !timeOf(at).Before(day) {
			t.Errorf("%s: %s is not before the anchor", what, timeOf(at))
		}
	}
	for _, i := range s.Issues {
		created := timeOf(i.CreatedAt)
		if want := day.AddDate(0, 0, -(3*(63-i.Number))/2); !created.Truncate(24*time.Hour).Equal(want) || created.Sub(want) < 9*time.Hour || created.Sub(want) >= 17*time.Hour {
			t.Errorf("AAC-%d was created at %s", i.Number, created)
		}
		last := i.CreatedAt
		for _, c := range i.Comments {
			if c.CreatedAt <= last {
				t.Errorf("AAC-%d: comments out of order", i.Number)
			}
			last = c.CreatedAt
		}
		if i.UpdatedAt < last || (i.Deleted != nil && i.Deleted.At <= i.UpdatedAt) {
			t.Errorf("AAC-%d: created %s, last comment %s, updated %s, deleted %v", i.Number, created, timeOf(last), timeOf(i.UpdatedAt), i.Deleted)
		}
		past(i.Title, i.UpdatedAt)
	}
	for _, task := range s.Tasks {
		past("task", task.CreatedAt)
	}
	for _, r := range s.Runs {
		past("run", max(r.TriggeredAt, r.CompletedAt))
	}
}

func TestFamilies(t *testing.T) {
	s := home(t)
	got := map[int][]int{}
	byID := map[tracker.ID]int{}
	for _, i := range s.Issues {
		byID[i.ID] = i.Number
	}
	for _, i := range s.Issues {
		if i.ParentID != "" {
			got[byID[i.ParentID]] = append(got[byID[i.ParentID]], i.Number)
		}
	}
	want := map[int][]int{40: {51, 52, 53}, 41: {42, 45, 46}, 42: {43, 44}, 48: {49, 50}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sub-issues (-want +got):\n%s", diff)
	}
}

func TestAgentWork(t *testing.T) {
	s := home(t)
	names := map[tracker.ID]string{}
	for _, a := range s.Agents {
		names[a.ID] = a.Name
	}
	has := map[string][]int{}
	for _, i := range s.Issues {
		if i.AssigneeType == tracker.AgentActor {
			has[names[i.AssigneeID]] = append(has[names[i.AssigneeID]], i.Number)
		}
		if i.Parked != (i.Number == 19) {
			t.Errorf("AAC-%d parked: %v", i.Number, i.Parked)
		}
	}
	wantHas := map[string][]int{"Atlas": {14, 19, 21, 22, 30, 32, 38, 42, 43, 47, 55, 61}, "Scribe": {27, 51}, "Scout": {24}}
	if diff := cmp.Diff(wantHas, has); diff != "" {
		t.Errorf("issues of agents (-want +got):\n%s", diff)
	}
	active := map[string][]int{}
	for _, task := range s.Tasks {
		if k := slices.IndexFunc(s.Issues, func(i records.IssueSnapshot) bool { return i.ID == task.IssueID }); task.Status != records.Completed {
			active[task.Status] = append(active[task.Status], s.Issues[k].Number)
		}
	}
	wantActive := map[string][]int{records.Queued: {42}, records.Dispatched: {24}, records.Running: {14}}
	if diff := cmp.Diff(wantActive, active); diff != "" {
		t.Errorf("active tasks (-want +got):\n%s", diff)
	}
}

func TestAutopilots(t *testing.T) {
	s := home(t)
	got := map[string]string{}
	for _, a := range s.Autopilots {
		statuses := map[string]int{}
		for _, r := range s.Runs {
			if r.AutopilotID == a.ID {
				statuses[r.Status]++
			}
		}
		got[a.Title] = fmt.Sprint(a.Status, " ", a.ExecutionMode, " ", statuses)
	}
	want := map[string]string{
		"Backlog triage":   "active create_issue map[completed:5 issue_created:1]",
		"Customer digest":  "active run_only map[completed:4 skipped:1]",
		"Dependency sweep": "paused create_issue map[]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("autopilots (-want +got):\n%s", diff)
	}
	tasks := map[tracker.ID]records.Task{}
	for _, task := range s.Tasks {
		tasks[task.ID] = task
	}
	var triaged []int
	for _, i := range s.Issues {
		if i.OriginRunID == "" {
			continue
		}
		triaged = append(triaged, i.Number)
		r := s.Runs[slices.IndexFunc(s.Runs, func(r records.RunSnapshot) bool { return r.ID == i.OriginRunID })]
		if r.IssueID != i.ID || tasks[r.TaskID].AutopilotRunID != r.ID || tasks[r.TaskID].IssueID != i.ID {
			t.Errorf("AAC-%d, its run and its task do not belong together", i.Number)
		}
		if i.CreatorID != i.AssigneeID || i.CreatorType != tracker.AgentActor || i.Title != "Triage "+timeOf(i.CreatedAt).Format(time.DateOnly) {
			t.Errorf("AAC-%d: %+v", i.Number, i)
		}
	}
	if want := []int{21, 30, 38, 47, 55, 61}; !slices.Equal(triaged, want) {
		t.Errorf("triage issues %v, want %v", triaged, want)
	}
}

func TestTheFixedIssue(t *testing.T) {
	s := home(t)
	i := s.Issues[41]
	if i.ID != "550e8400-e29b-41d4-a716-446655440000" || i.Title != "Board loses the card position after a reload" ||
		i.Priority != tracker.High || i.CreatorID != member("priya") || !slices.Equal(i.LabelIDs, []tracker.ID{label("bug"), label("ux")}) {
		t.Errorf("AAC-42: %+v", i)
	}
	names := map[tracker.ID]string{"": "nobody", agent("atlas"): "Atlas"}
	for _, m := range s.Members {
		names[m.UserID] = strings.Fields(m.Name)[0]
	}
	author := map[tracker.ID]string{"": "all"}
	var got []string
	for _, c := range i.Comments {
		author[c.ID] = names[c.AuthorID]
		got = append(got, names[c.AuthorID]+" to "+author[c.ParentID])
	}
	want := []string{"Tomas to all", "Priya to Tomas", "Atlas to Priya", "Jonas to Tomas", "Mira to all", "Elin to Mira"}
	if !slices.Equal(got, want) {
		t.Errorf("the thread is %v, want %v", got, want)
	}
}

func TestComments(t *testing.T) {
	s := home(t)
	if len(sentences) != 30 {
		t.Errorf("%d sentences", len(sentences))
	}
	counts := map[int]int{}
	replies, all := 0, 0
	for _, i := range s.Issues {
		if i.Number == 42 {
			continue
		}
		counts[len(i.Comments)]++
		for k, c := range i.Comments {
			all++
			if c.ParentID == "" {
				continue
			}
			replies++
			if !slices.ContainsFunc(i.Comments[:k], func(p records.CommentSnapshot) bool { return p.ID == c.ParentID }) {
				t.Errorf("AAC-%d: comment %d answers one that is not before it", i.Number, k)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(counts)); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("issues by number of comments: %v", counts)
	}
	if replies*6 < all || replies*2 > all {
		t.Errorf("%d of %d comments are replies", replies, all)
	}
}

func TestUsage(t *testing.T) {
	s := home(t)
	days := map[tracker.Day]int{}
	var weekend, working int64
	for _, r := range s.Usage {
		days[r.Date]++
		if (r.CostUSDTicks == 0) != (r.Provider == "ollama") || (r.UncostedInputTokens == 0) == (r.Provider == "ollama") {
			t.Errorf("%s %s: costs %d ticks, %d tokens without a price", r.Date, r.Model, r.CostUSDTicks, r.UncostedInputTokens)
		}
		if r.InputTokens <= 0 || r.OutputTokens <= 0 || r.TaskCount <= 0 {
			t.Errorf("%s %s is empty", r.Date, r.Model)
		}
		at, err := time.Parse(time.DateOnly, string(r.Date))
		if err != nil {
			t.Fatal(err)
		}
		if weekday(at) == 3 {
			weekend += r.InputTokens
		} else {
			working += r.InputTokens
		}
	}
	sorted := slices.Sorted(maps.Keys(days))
	if len(s.Usage) != 240 || len(sorted) != 60 || sorted[59] != "2025-06-22" {
		t.Errorf("%d rows for %d days, up to %s", len(s.Usage), len(sorted), sorted[len(sorted)-1])
	}
	if weekend*4 > working {
		t.Errorf("weekends use %d tokens, working days %d", weekend, working)
	}
	if growth(0) != 1000 || growth(59) != 1500 {
		t.Errorf("growth from %d to %d", growth(0), growth(59))
	}
}

// TestBounds holds the data to the limits that the tools hold callers to.
func TestBounds(t *testing.T) {
	for _, s := range Snapshots(anchor) {
		for _, i := range s.Issues {
			if i.Title != "" {
				var title tracker.Title
				if err := title.UnmarshalText([]byte(i.Title)); err != nil || string(title) != i.Title {
					t.Errorf("title of %d: %v", i.Number, err)
				}
			}
			var d tracker.Description
			if err := d.UnmarshalText([]byte(i.Description)); err != nil {
				t.Errorf("description of %d: %v", i.Number, err)
			}
			if len(i.LabelIDs) > 2 {
				t.Errorf("%d has %d labels", i.Number, len(i.LabelIDs))
			}
			for _, c := range i.Comments {
				var content tracker.Content
				if err := content.UnmarshalText([]byte(c.Content)); err != nil {
					t.Errorf("a comment of %d: %v", i.Number, err)
				}
			}
		}
		for _, a := range s.Agents {
			if n := len([]rune(a.Description)); n > 255 {
				t.Errorf("the description of %s has %d characters", a.Name, n)
			}
		}
	}
}

func TestTitlesDoNotRepeat(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range home(t).Issues {
		if seen[i.Title] {
			t.Errorf("%q is the title of two issues", i.Title)
		}
		seen[i.Title] = true
	}
}

func TestGrants(t *testing.T) {
	got := map[string]string{}
	names := map[string]bool{}
	for _, g := range Grants() {
		if g.Key != "" {
			got[g.Key] = fmt.Sprint(g.Holder, ", ", g.Role, ", ", len(g.Scopes))
		}
		if names[g.Name] {
			t.Errorf("two tokens are named %s", g.Name)
		}
		names[g.Name] = true
	}
	want := map[string]string{
		"reader": "Elin Novak, member, 3", "editor": "Priya Raman, member, 7",
		"owner": "Mira Okafor, owner, 8", "outsider": "Ada Berg, owner, 8",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	if len(names) != 7 {
		t.Errorf("%d tokens", len(names))
	}
}
