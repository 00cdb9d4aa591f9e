package gateway

import (
	"fmt"
	"slices"
	"strings"
)

// resource is a path with its methods.
type resource struct {
	path     string
	segments []segment
	methods  map[string]Route
}

type segment struct {
	kind segmentKind
	text string // what a static segment is, or the name of a variable
}

// segmentKind is in the order in which segments win.
type segmentKind int

const (
	static segmentKind = iota
	variable
	greedy
)

func buildResources(routes []Route) ([]resource, error) {
	byPath := map[string]int{}
	var resources []resource
	for _, r := range routes {
		if r.Method == "" || r.Function == nil {
			return nil, fmt.Errorf("route %s %s needs a method and a function", r.Method, r.Path)
		}
		i, known := byPath[r.Path]
		if !known {
			segments, err := parsePath(r.Path)
			if err != nil {
				return nil, err
			}
			i = len(resources)
			byPath[r.Path] = i
			resources = append(resources, resource{r.Path, segments, map[string]Route{}})
		}
		if _, twice := resources[i].methods[r.Method]; twice {
			return nil, fmt.Errorf("route %s %s is declared twice", r.Method, r.Path)
		}
		resources[i].methods[r.Method] = r
	}
	slices.SortStableFunc(resources, bySpecificity)
	for i := 1; i < len(resources); i++ {
		if bySpecificity(resources[i-1], resources[i]) == 0 {
			return nil, fmt.Errorf("%s and %s match the same paths", resources[i-1].path, resources[i].path)
		}
	}
	return resources, nil
}

func parsePath(path string) ([]segment, error) {
	if !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("path %q must begin with a slash", path)
	}
	if path == "/" {
		return nil, nil
	}
	words := strings.Split(path[1:], "/")
	segments := make([]segment, len(words))
	for i, word := range words {
		s := parseSegment(word)
		if s.text == "" || strings.ContainsAny(s.text, "{}+") || (s.kind == greedy && i != len(words)-1) {
			return nil, fmt.Errorf("path %q: segments are words, {name}, or {name+} at the end", path)
		}
		segments[i] = s
	}
	return segments, nil
}

func parseSegment(word string) segment {
	if !strings.HasPrefix(word, "{") || !strings.HasSuffix(word, "}") {
		return segment{static, word}
	}
	name := word[1 : len(word)-1]
	if trimmed, isGreedy := strings.CutSuffix(name, "+"); isGreedy {
		return segment{greedy, trimmed}
	}
	return segment{variable, name}
}

// bySpecificity sorts what wins first: the first differing segment decides.
func bySpecificity(a, b resource) int {
	return slices.CompareFunc(a.segments, b.segments, func(s, t segment) int {
		if s.kind == static && t.kind == static {
			return strings.Compare(s.text, t.text)
		}
		return int(s.kind) - int(t.kind)
	})
}

// match finds the resource for a path as it was received, and the values of its variables,
// which stay percent-encoded. Segments are compared byte by byte: an encoded letter, a doubled
// slash or one at the end is another path.
func (g *gateway) match(path string) (resource, map[string]string, bool) {
	for _, r := range g.resources {
		if values, ok := r.match(path); ok {
			return r, values, true
		}
	}
	return resource{}, nil, false
}

func (r resource) match(path string) (map[string]string, bool) {
	if !strings.HasPrefix(path, "/") {
		return nil, false
	}
	if len(r.segments) == 0 {
		return nil, path == "/"
	}
	var values map[string]string
	rest := path[1:]
	for i, s := range r.segments {
		word, tail, more := strings.Cut(rest, "/")
		last := i == len(r.segments)-1
		if s.kind == greedy {
			word, more = rest, false
		}
		if word == "" || more == last || (s.kind == static && s.text != word) {
			return nil, false
		}
		if s.kind != static {
			if values == nil {
				values = map[string]string{}
			}
			values[s.text] = word
		}
		rest = tail
	}
	return values, true
}
