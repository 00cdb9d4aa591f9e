package monitor

// recent is a set that forgets what was added longest ago.
type recent struct {
	members map[string]bool
	order   []string // a ring
	next    int
}

func newRecent(size int) *recent {
	return &recent{members: make(map[string]bool, size), order: make([]string, size)}
}

func (r *recent) has(s string) bool { return r.members[s] }

// add tells whether s is new.
func (r *recent) add(s string) bool {
	if r.members[s] {
		return false
	}
	delete(r.members, r.order[r.next])
	r.members[s], r.order[r.next] = true, s
	r.next = (r.next + 1) % len(r.order)
	return true
}
