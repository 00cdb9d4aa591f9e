// Package yamledit changes a CloudFormation template as it is written, so that the short forms of
// intrinsic functions (!Ref, !Sub) stay what they are.
//
// It knows nothing of templates; infra/stack reads one as CloudFormation will get it. Start with
// Root.
package yamledit

import (
	"errors"
	"slices"

	"gopkg.in/yaml.v3"
)

// Member returns the value at a path of keys; nil if there is none.
func Member(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		i := keyIndex(n, key)
		if i < 0 {
			return nil
		}
		n = n.Content[i+1]
	}
	return n
}

// Remove takes a key and its value out of a mapping, and tells whether it was there.
func Remove(n *yaml.Node, key string) bool {
	if n == nil || n.Kind != yaml.MappingNode {
		return false
	}
	i := keyIndex(n, key)
	if i < 0 {
		return false
	}
	n.Content = slices.Delete(n.Content, i, i+2)
	return true
}

// keyIndex returns where a key is among a mapping's contents; -1 if it is not.
func keyIndex(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// Text makes a text.
func Text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// Add adds a key and its value to a mapping.
func Add(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, Text(key), value)
}

// Entries calls f with each key and value of a mapping.
func Entries(n *yaml.Node, f func(key string, value *yaml.Node)) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i].Value, n.Content[i+1])
	}
}

// Root parses a document whose root is a mapping.
func Root(content []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is no mapping")
	}
	return doc.Content[0], nil
}
