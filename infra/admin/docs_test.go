package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	code         = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```|`([^`\n]+)`")
	flagName     = regexp.MustCompile(`\s-([a-z]+)\b`)
	parameterRow = regexp.MustCompile("(?m)^\\| (`[A-Z][^|]*) \\|")
	quoted       = regexp.MustCompile("`([A-Z][A-Za-z]+)`")
)

// unknownIn tells which commands and flags in the code of a page there are not, and how many
// commands it saw.
func unknownIn(page string) (seen int, unknown []string) {
	for _, fragment := range code.FindAllStringSubmatch(page, -1) {
		whole := strings.ReplaceAll(fragment[1]+fragment[2], "\\\n", "")
		for line := range strings.SplitSeq(whole, "\n") {
			rest, ours := strings.CutPrefix(line, "go run ./infra/admin ")
			c, known := find(strings.Fields(rest))
			switch {
			case known:
				seen++
				f, _, _ := c.parser()
				for _, flag := range flagName.FindAllStringSubmatch(rest, -1) {
					if f.Lookup(flag[1]) == nil {
						unknown = append(unknown, c.name+" -"+flag[1])
					}
				}
			case ours && rest != "help":
				unknown = append(unknown, rest)
			}
		}
	}
	return seen, unknown
}

// unknownParameters tells which parameters in the first column of a table the template lacks.
func unknownParameters(page, template string) (seen int, unknown []string) {
	for _, row := range parameterRow.FindAllStringSubmatch(page, -1) {
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			seen++
			if !strings.Contains(template, "\n  "+name[1]+":\n    Type: ") {
				unknown = append(unknown, name[1])
			}
		}
	}
	return seen, unknown
}

func TestTheDeployPageNamesWhatThereIs(t *testing.T) {
	page, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if seen, unknown := unknownIn(string(page)); seen < 12 || len(unknown) > 0 {
		t.Errorf("saw %d commands; not there: %v", seen, unknown)
	}
	if seen, unknown := unknownParameters(string(page), string(template)); seen < 15 || len(unknown) > 0 {
		t.Errorf("saw %d parameters; not there: %v", seen, unknown)
	}
	planted := "```sh\ngo run ./infra/admin member eat -x\n```\n`label add -colour red`\n| `Nothing` | x |\n"
	if seen, unknown := unknownIn(planted); seen != 1 || len(unknown) != 2 {
		t.Errorf("planted commands: saw %d, %v", seen, unknown)
	}
	if seen, unknown := unknownParameters(planted, string(template)); seen != 1 || len(unknown) != 1 {
		t.Errorf("planted parameter: saw %d, %v", seen, unknown)
	}
}

// TestThePagesNameCommandsThatThereAre holds all other pages to it too.
func TestThePagesNameCommandsThatThereAre(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, name := range append(pages, "../../README.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		seen, unknown := unknownIn(strings.ReplaceAll(string(page), " …`", "`"))
		total += seen
		for _, command := range unknown {
			if c := strings.Fields(command); len(c) != 1 { // the first word of several commands is no mistake
				t.Errorf("%s: not there: %s", name, command)
			}
		}
	}
	if total < 20 {
		t.Errorf("saw %d commands", total)
	}
}

var (
	given    = regexp.MustCompile("`([A-Z][a-z]+[A-Z][A-Za-z]+)(?:=[^`]*)?`")
	callback = regexp.MustCompile("[Cc]allbacks? (?:is|are|on|it is|be)?[^`\n]*`([a-z]+://[^`<>]+)`")
	pattern  = regexp.MustCompile(`(?s)\n  CognitoCallbacks:\n.*?AllowedPattern: '([^']+)'`)
)

// TestTheConnectPageNamesWhatThereIs: the parameters and outputs that it names are the template's,
// and the callbacks of the clients are such as CognitoCallbacks takes.
func TestTheConnectPageNamesWhatThereIs(t *testing.T) {
	page, err := os.ReadFile("../../docs/connect.md")
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names := given.FindAllStringSubmatch(string(page), -1)
	for _, name := range names {
		if !strings.Contains(string(template), "\n  "+name[1]+":\n    Type: ") && !strings.Contains(string(template), "\n  "+name[1]+":\n    Description: ") {
			t.Errorf("%s is neither a parameter nor an output", name[1])
		}
	}
	takes := regexp.MustCompile(pattern.FindStringSubmatch(string(template))[1])
	callbacks := callback.FindAllStringSubmatch(string(page), -1)
	for _, c := range callbacks {
		if !takes.MatchString(c[1]) {
			t.Errorf("CognitoCallbacks does not take %s", c[1])
		}
	}
	if len(names) < 10 || len(callbacks) < 3 {
		t.Errorf("saw %d names, %d callbacks", len(names), len(callbacks))
	}
	for _, bad := range []string{"", "https://a.example/cb, https://b.example/cb", "claude.ai/cb", `https://a.example/"`} {
		if takes.MatchString(bad) {
			t.Errorf("CognitoCallbacks takes %q", bad)
		}
	}
}
