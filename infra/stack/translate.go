package stack

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

//go:embed translate.py
var translator string

// Translate translates texts of templates, all in one run of the translator, which takes about a
// second. Root is the repository: the translator is looked for in .tools/venv there, where
// `make tools` puts it, then in the python3 on the PATH.
func Translate(root string, texts ...string) ([]*Stack, error) {
	templates := make([]any, len(texts))
	for i, text := range texts {
		var err error
		if templates[i], err = parse(text); err != nil {
			return nil, fmt.Errorf("read template %d: %w", i, err)
		}
	}
	in, err := json.Marshal(templates)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python(root), "-c", translator)
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &stderr
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("%w: install Python 3, then run make tools", err)
		}
		return nil, fmt.Errorf("translate the template: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	var results []struct {
		Template *Stack
		Error    string
	}
	if err := json.Unmarshal(out.Bytes(), &results); err != nil {
		return nil, fmt.Errorf("read the translation: %w", err)
	}
	stacks := make([]*Stack, len(results))
	for i, r := range results {
		if r.Template == nil {
			return nil, fmt.Errorf("template %d is refused: %s", i, r.Error)
		}
		stacks[i] = r.Template
	}
	return stacks, nil
}

func python(root string) string {
	ours := filepath.Join(root, ".tools", "venv", "bin", "python")
	if _, err := os.Stat(ours); err == nil {
		return ours
	}
	return "python3"
}

// parse reads a template, with the short forms of intrinsic functions made long. The code of the
// functions is said to be in a bucket, as it is once it is uploaded.
func parse(text string) (map[string]any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 {
		return nil, errors.New("it is empty")
	}
	value, err := plain(doc.Content[0])
	if err != nil {
		return nil, err
	}
	template, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("it is no mapping")
	}
	if globals, ok := template["Globals"].(map[string]any); ok {
		if functions, ok := globals["Function"].(map[string]any); ok {
			functions["CodeUri"] = "s3://bucket/code"
		}
	}
	return template, nil
}

// plain makes a JSON value of a node. Decoding into any would drop the tags, so that a reference
// and a literal would look alike.
func plain(n *yaml.Node) (any, error) {
	value, err := untagged(n)
	if err != nil || len(n.Tag) < 2 || n.Tag[0] != '!' || n.Tag[1] == '!' {
		return value, err
	}
	switch name := n.Tag[1:]; name {
	case "Ref", "Condition":
		return map[string]any{name: value}, nil
	default:
		return map[string]any{"Fn::" + name: value}, nil
	}
}

func untagged(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if _, twice := m[key]; twice {
				return nil, fmt.Errorf("line %d: %s is there twice", n.Content[i].Line, key)
			}
			value, err := plain(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			m[key] = value
		}
		return m, nil
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, e := range n.Content {
			var err error
			if list[i], err = plain(e); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.ScalarNode:
		if len(n.Tag) > 1 && n.Tag[0] == '!' && n.Tag[1] != '!' {
			return n.Value, nil
		}
		var value any
		err := n.Decode(&value)
		return value, err
	default:
		return nil, fmt.Errorf("line %d: anchors are not understood: write the value out", n.Line)
	}
}
