package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/aacworkflow/mcp-connector/"

// root is the directory of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pkg is what the go command says of a package.
type pkg struct {
	ImportPath string
	Dir        string
	Doc        string
	Imports    []string
	Deps       []string // all distances
	GoFiles    []string
	Error      *struct{ Err string }
}

// name is the path below the module.
func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module) }

// list asks the go command for our packages, as they are built for Lambda. An overlay, file to
// file, plants code without touching the tree.
func list(dir string, overlay map[string]string) ([]pkg, error) {
	args := []string{"list", "-e", "-json=ImportPath,Dir,Doc,Imports,Deps,GoFiles,Error", "-tags", "lambda.norpc"}
	if len(overlay) > 0 {
		file, err := writeOverlay(overlay)
		if err != nil {
			return nil, err
		}
		defer os.Remove(file)
		args = append(args, "-overlay", file)
	}
	cmd := exec.Command("go", append(args, "./...")...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var pkgs []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, err
		}
		if p.Error != nil {
			return nil, errors.New(p.Error.Err)
		}
		pkgs = append(pkgs, p)
	}
}

func writeOverlay(files map[string]string) (string, error) {
	f, err := os.CreateTemp("", "overlay-*.json")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.Name(), json.NewEncoder(f).Encode(map[string]any{"Replace": files})
}

// plant writes Go source to a temporary file and returns the overlay that puts it at a path of
// the repository.
func plant(t *testing.T, path, source string) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "planted.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{filepath.Join(root(t), path): file}
}

// wantFinding fails unless one of the findings holds all the words.
func wantFinding(t *testing.T, findings []string, words ...string) {
	t.Helper()
	for _, f := range findings {
		all := true
		for _, w := range words {
			all = all && strings.Contains(f, w)
		}
		if all {
			return
		}
	}
	t.Errorf("a planted violation went unseen: want a finding with %q, got %q", words, findings)
}
