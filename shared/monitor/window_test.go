package monitor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMergeDoesNotKnowOrder adds the same sightings in many orders, with repetitions, more than
// are kept: the result is the same.
func TestMergeDoesNotKnowOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 7))
	var all []Sighting
	for i := range 3 * maxSightings {
		all = append(all, Sighting{Key: fmt.Sprint("k", i), At: int64(random.IntN(1000)), Event: fmt.Sprint("e", i), Value: fmt.Sprint(i)})
	}
	var want []Sighting
	for range 20 {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var kept []Sighting
		for _, s := range append(all, all[:50]...) {
			kept, _ = merge(kept, s)
		}
		if want == nil {
			want = kept
		}
		if diff := cmp.Diff(want, kept); diff != "" || len(kept) != maxSightings || !slices.IsSortedFunc(kept, byTime) {
			t.Fatalf("%d kept; -first order +this order\n%s", len(kept), diff)
		}
	}
}

func TestMergeKeepsTheEarlierOfOneKey(t *testing.T) {
	late, early := Sighting{Key: "k", At: 20, Event: "b"}, Sighting{Key: "k", At: 10, Event: "a"}
	for _, order := range [][]Sighting{{late, early}, {early, late}, {late, early, late, early}} {
		var kept []Sighting
		for _, s := range order {
			kept, _ = merge(kept, s)
		}
		if diff := cmp.Diff([]Sighting{early}, kept); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

// TestMergeTellsChange: a sighting that is not kept changes nothing, and nothing is shared with
// what was given.
func TestMergeTellsChange(t *testing.T) {
	var kept []Sighting
	for i := range maxSightings {
		kept, _ = merge(kept, Sighting{Key: fmt.Sprint(i), At: int64(100 + i)})
	}
	before := slices.Clone(kept)
	if _, changed := merge(kept, Sighting{Key: "older than all", At: 1}); changed {
		t.Error("what is not kept has changed something")
	}
	if _, changed := merge(kept, kept[5]); changed {
		t.Error("a repetition has changed something")
	}
	after, changed := merge(kept, Sighting{Key: "new", At: 150})
	if !changed || len(after) != maxSightings || after[0].At != 101 {
		t.Errorf("changed %v, %d kept from %d", changed, len(after), after[0].At)
	}
	if diff := cmp.Diff(before, kept); diff != "" {
		t.Errorf("what was given has changed\n%s", diff)
	}
}

// TestWorst finds the window that matters, if something in it is new.
func TestWorst(t *testing.T) {
	rule := Rule{Window: 10 * time.Second, Threshold: 3}
	at := func(seconds ...int) (all []Sighting) {
		for i, s := range seconds {
			all = append(all, Sighting{Key: fmt.Sprint("k", i), Event: fmt.Sprint("e", i), Value: fmt.Sprint("v", i), At: int64(s) * 1e6})
		}
		return all
	}
	for name, tt := range map[string]struct {
		sightings []Sighting
		fresh     string
		want      []int // of the window: first and last second, count
	}{
		"too few":                 {at(1, 2), "k1", nil},
		"enough":                  {at(1, 2, 3), "k0", []int{1, 3, 3}},
		"a window is half open":   {at(1, 2, 11), "k2", nil},
		"just inside":             {at(1, 2, 10), "k2", []int{1, 10, 3}},
		"the largest":             {at(1, 2, 3, 20, 21, 22, 23), "k4", []int{20, 23, 4}},
		"only with something new": {at(1, 2, 3, 20, 21), "k4", nil},
		"the latest of equals":    {at(1, 2, 3, 12), "k2", []int{1, 3, 3}},
		"nothing":                 {nil, "", nil},
	} {
		w, ok := rule.worst(tt.sightings, map[string]bool{tt.fresh: true})
		var got []int
		if ok {
			got = []int{w.since().Second(), w.until().Second(), w.count}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestJudgeCountsDistinctValues(t *testing.T) {
	w := []Sighting{{At: 1e6, Value: "a"}, {At: 2e6, Value: "b"}, {At: 3e6, Value: "a"}}
	for _, tt := range []struct {
		rule  Rule
		count int
		ok    bool
	}{
		{Rule{Threshold: 2}, 2, true},
		{Rule{Threshold: 3}, 2, false},
		{Rule{Threshold: 2, Spread: 2 * time.Second}, 2, true},
		{Rule{Threshold: 2, Spread: 3 * time.Second}, 2, false},
	} {
		if count, ok := tt.rule.Judge(w); count != tt.count || ok != tt.ok {
			t.Errorf("%+v: %d, %v", tt.rule, count, ok)
		}
	}
}

// TestTrackFits: the largest track of one subject and day is well below what an item may be.
func TestTrackFits(t *testing.T) {
	d := &dayTrack{day: "2025-06-22", track: track{Sightings: map[RuleName][]Sighting{}}}
	for _, r := range Rules() {
		for i := range maxSightings {
			id := fmt.Sprintf("%0*d", maxEventID, i)
			d.Sightings[r.Name] = append(d.Sightings[r.Name], Sighting{Key: id, At: time.Now().UnixMicro(), Event: id, Value: id})
		}
	}
	for range maxMarks {
		d.Raised = append(d.Raised, mark{Rule: DestructiveWithoutRead, First: 1 << 50, Since: 1 << 50, Until: 1 << 50, Count: 128, Raised: 9, Unspoken: true})
	}
	op, err := d.op(subject{"w", ByToken, "t"})
	if err != nil {
		t.Fatal(err)
	}
	if n := op.Item.Size(); n > 320<<10 {
		t.Errorf("a track of %d bytes", n)
	}
}

func TestRecentForgets(t *testing.T) {
	r := newRecent(3)
	for i := range 5 {
		if !r.add(fmt.Sprint(i)) || r.add(fmt.Sprint(i)) {
			t.Errorf("%d is new once", i)
		}
	}
	for i, want := range []bool{false, false, true, true, true} {
		if got := r.has(fmt.Sprint(i)); got != want {
			t.Errorf("%d: remembered %v", i, got)
		}
	}
	if len(r.members) != 3 {
		t.Errorf("%d members", len(r.members))
	}
}
