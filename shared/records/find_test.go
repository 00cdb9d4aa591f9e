package records

import (
	"errors"
	"strings"
	"testing"
)

// A panic next to the call is an error of the call, as one in it is.
func TestAPanicBesideIsAnError(t *testing.T) {
	fine := func() error { return nil }
	err := together(fine, func() error { panic("beside") })
	if err == nil || !strings.Contains(err.Error(), "beside") {
		t.Errorf("got %v, want an error that names the panic", err)
	}
	first := errors.New("the first")
	if err := together(func() error { return first }, func() error { return errors.New("the second") }); err != first {
		t.Errorf("got %v, want the error of the first", err)
	}
	if err := together(fine, fine); err != nil {
		t.Errorf("got %v, want none", err)
	}
}
