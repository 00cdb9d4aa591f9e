// Command gen writes what follows from the catalogue of tools and the table of failures: parts
// of the docs, each tool's function, and the tools part of template.yaml. With -check it writes
// nothing and fails if a file is stale.
//
// It makes no promises: those are said again, by hand, in infra/check. Start with main.go; each
// other file makes one kind of output.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// output is one generated file, or a file with a generated part.
type output struct {
	path string
	// make returns the wanted content, given the present one (nil if there is no file).
	make func(present []byte) ([]byte, error)
}

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a file is stale")
	dir := flag.String("C", ".", "the directory of the repository")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	var problems []error
	for _, o := range outputs() {
		file := filepath.Join(dir, o.path)
		present, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		wanted, err := o.make(present)
		if err != nil {
			return fmt.Errorf("%s: %w", o.path, err)
		}
		switch {
		case bytes.Equal(present, wanted):
		case check:
			problems = append(problems, fmt.Errorf("%s is stale: run make generate", o.path))
		default:
			if err := write(file, wanted); err != nil {
				return err
			}
			fmt.Println("wrote", o.path)
		}
	}
	return errors.Join(problems...)
}

func write(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// between replaces what stands between two marker lines, which stay.
func between(present []byte, begin, end string, part []byte) ([]byte, error) {
	i := bytes.Index(present, []byte(begin))
	j := bytes.Index(present, []byte(end))
	if i < 0 || j < i {
		return nil, fmt.Errorf("the markers %q and %q are missing", begin, end)
	}
	i += len(begin)
	return bytes.Join([][]byte{present[:i], []byte("\n"), part, present[lineStart(present, j):]}, nil), nil
}

func lineStart(b []byte, i int) int { return bytes.LastIndexByte(b[:i], '\n') + 1 }
