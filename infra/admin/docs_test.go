package main

import (
	"os"
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
