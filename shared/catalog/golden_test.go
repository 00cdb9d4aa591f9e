package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// The wire form of each tool is on file, so that a change of it is seen in review: clients ask
// their users again, or break, when it moves.
func TestGolden(t *testing.T) {
	entries := Entries()
	known := map[string]bool{}
	for _, e := range entries {
		known[e.Name+".json"] = true
		t.Run(e.Name, func(t *testing.T) { compareGolden(t, filepath.Join("testdata", e.Name+".json"), wireOf(t, e)) })
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("testdata/%s belongs to no tool of the catalogue: remove it", f.Name())
		}
	}
	if len(known) == 0 {
		t.Error("the catalogue is empty: nothing was compared")
	}
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is missing: run go test ./shared/catalog -update and review the new file", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("the wire form has changed (-on file +now); if that is meant, run go test ./shared/catalog -update\n%s", diff)
	}
}

// wireOf writes an entry as GET /tools does, indented.
func wireOf(t *testing.T, e Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
