package authserver

import (
	"maps"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
)

// Limits bound what strangers can make the server do. Zero stands for the default.
type Limits struct {
	// RegistrationsPerSource is for one source in an hour. Default: 60.
	RegistrationsPerSource int
	// RegistrationsPerMinute and RegistrationsPerDay are for all sources together, and kept in the
	// table: the latter bounds how many unused clients are stored, for they live a day. Defaults:
	// 30 and 1000.
	RegistrationsPerMinute int
	RegistrationsPerDay    int
	// FailuresPerMinute is how many wrong codes and tokens one source may send. Default: 60.
	FailuresPerMinute int
	// AsksPerMinute is how many consent pages one source may ask for. Default: 60.
	AsksPerMinute int
}

func (l *Limits) fill() {
	for value, byDefault := range map[*int]int{
		&l.RegistrationsPerSource: 60, &l.RegistrationsPerMinute: 30, &l.RegistrationsPerDay: 1000,
		&l.FailuresPerMinute: 60, &l.AsksPerMinute: 60,
	} {
		if *value == 0 {
			*value = byDefault
		}
	}
}

// maxSources bounds the memory of a rate. When it is full, whoever is new shares one count.
const maxSources = 10_000

// rate counts what each source does in a window of time. It lives in one process: where several
// run side by side, each allows as much. What must hold for all together is in the table.
type rate struct {
	most int
	per  time.Duration
	now  func() time.Time

	mu   sync.Mutex
	seen map[string]window
}

type window struct {
	until time.Time
	count int
}

func newRate(most int, per time.Duration, now func() time.Time) *rate {
	return &rate{most: most, per: per, now: now, seen: map[string]window{}}
}

// spent returns how long the source has to wait; 0 if it may go on. It counts nothing.
func (r *rate) spent(source string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wait(r.seen[r.key(source)])
}

// take counts one event, and returns how long the source has to wait if that was one too many.
func (r *rate) take(source string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if len(r.seen) >= maxSources {
		maps.DeleteFunc(r.seen, func(_ string, w window) bool { return !now.Before(w.until) })
	}
	key := r.key(source)
	w := r.seen[key]
	if wait := r.wait(w); wait > 0 {
		return wait
	}
	if !now.Before(w.until) {
		w = window{until: now.Add(r.per)}
	}
	w.count++
	r.seen[key] = w
	return 0
}

func (r *rate) wait(w window) time.Duration {
	if now := r.now(); w.count >= r.most && now.Before(w.until) {
		return w.until.Sub(now)
	}
	return 0
}

func (r *rate) key(source string) string {
	if _, known := r.seen[source]; !known && len(r.seen) >= maxSources {
		return "" // the others
	}
	return source
}

// sourceOfRequest returns who sent a request, for counting: an IPv4 address, or the network of an IPv6
// one, for who has one address of it has them all.
func sourceOfRequest(r *http.Request) string {
	text := audit.OriginFrom(r.Context()).SourceIP
	if text == "" {
		text, _, _ = net.SplitHostPort(r.RemoteAddr)
	}
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return "unknown"
	}
	if ip = ip.Unmap(); ip.Is6() {
		network, _ := ip.WithZone("").Prefix(64) // 64 is a length that every address has
		return network.String()
	}
	return ip.String()
}
