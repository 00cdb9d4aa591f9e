package auditpage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// HTML is made of nodes. What comes from data is always a text or the value of an attribute, and
// both are escaped where they are written; names of elements and attributes are constants of
// this package. There is no node for markup as it is. A template engine would do the same, but
// makes the linker keep every operation of DynamoDB in the program (infra/check).

// part is what an element is made of: nodes and attributes.
type part interface{ isPart() }

// node can be written.
type node interface {
	part
	write(b *strings.Builder)
}

// text is shown as it is, whatever is in it.
type text string

// attribute has its value quoted and escaped. No attribute that leads somewhere (href, src) or
// runs something takes a value of data: see el.
type attribute struct{ name, value string }

type element struct {
	name       string
	attributes []attribute
	children   []node
}

// group is nodes side by side.
type group []node

// sheet is the style sheet, the one text that is not escaped: a constant of this package.
type sheet struct{}

func (text) isPart()      {}
func (attribute) isPart() {}
func (element) isPart()   {}
func (group) isPart()     {}
func (sheet) isPart()     {}

// el makes an element.
func el(name string, parts ...part) element {
	e := element{name: name}
	for _, p := range parts {
		switch p := p.(type) {
		case attribute:
			e.attributes = append(e.attributes, p)
		case node:
			e.children = append(e.children, p)
		}
	}
	return e
}

func at(name, value string) attribute { return attribute{name, value} }

func class(names string) attribute { return attribute{"class", names} }

// void are the elements without an end.
var void = map[string]bool{"input": true, "link": true, "meta": true}

func (e element) write(b *strings.Builder) {
	b.WriteString("<" + e.name)
	for _, a := range e.attributes {
		b.WriteString(" " + a.name + `="`)
		escape(b, a.value)
		b.WriteString(`"`)
	}
	b.WriteString(">")
	if void[e.name] {
		return
	}
	group(e.children).write(b)
	b.WriteString("</" + e.name + ">")
}

func (t text) write(b *strings.Builder) { escape(b, string(t)) }

func (g group) write(b *strings.Builder) {
	for _, n := range g {
		n.write(b)
	}
}

func (sheet) write(b *strings.Builder) { b.WriteString("<style>" + Style + "</style>") }

func render(nodes ...node) string {
	var b strings.Builder
	group(nodes).write(&b)
	return b.String()
}

// escape writes text so that it is text in an element and in a quoted attribute alike. What is
// invisible and could turn text around, or is no character at all, is shown as U+FFFD.
func escape(b *strings.Builder, s string) {
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '`': // ends an attribute in very old browsers
			b.WriteString("&#96;")
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
}

// said is what somebody else wrote: apart from its surroundings also in its direction.
func said(s string) node { return el("bdi", text(s)) }

func code(s string) node { return el("code", said(s)) }
