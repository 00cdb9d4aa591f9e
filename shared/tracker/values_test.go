package tracker

import (
	"regexp"
	"testing"
)

func TestIsID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	const good = "550e8400-e29b-41d4-A716-44665544000F"
	if !IsID(good) {
		t.Fatal("the control is no id")
	}
	for at := range len(good) {
		for c := range 256 { // every byte at every place
			s := good[:at] + string([]byte{byte(c)}) + good[at+1:]
			if got, want := IsID(s), form.MatchString(s); got != want {
				t.Errorf("%q: %v, want %v", s, got, want)
			}
		}
	}
	for _, s := range []string{"", good[1:], good + "0", good + "\n", "{" + good + "}"} {
		if IsID(s) {
			t.Errorf("%q is an id", s)
		}
	}
}
