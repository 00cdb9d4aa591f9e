package token_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aacworkflow/mcp-connector/shared/fault"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
)

// fixed is a source of the same bytes for ever: tokens of tests are no one's.
type fixed byte

func (f fixed) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

func newToken(t *testing.T, random io.Reader) token.Token {
	t.Helper()
	tok, err := token.New(random)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestForm(t *testing.T) {
	form := regexp.MustCompile(`^aac_pat_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$`)
	for _, random := range []io.Reader{nil, nil, fixed(0), fixed(1), fixed(0xff)} {
		tok := newToken(t, random)
		if !form.MatchString(tok.Secret()) {
			t.Fatalf("a token has another form, %d characters long", len(tok.Secret()))
		}
		back, err := token.Parse(tok.Secret())
		if err != nil || back.Secret() != tok.Secret() || back.Hash() != tok.Hash() {
			t.Errorf("a new token does not parse to itself: %v", err)
		}
	}
	if one, other := newToken(t, nil), newToken(t, nil); one.Secret() == other.Secret() {
		t.Error("two tokens are the same")
	}
	if a, b := newToken(t, fixed(0)), newToken(t, fixed(0xff)); !strings.Contains(a.Secret(), strings.Repeat("0", 43)) || a.Hash() == b.Hash() {
		t.Error("the random bits are not in the token")
	}
}

func TestNewNeedsRandomness(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"broken": iotest.ErrReader(errors.New("dry")), "short": bytes.NewReader(make([]byte, 31)),
	} {
		if tok, err := token.New(r); err == nil || tok.Secret() != "" {
			t.Errorf("%s source: got a token", name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good := newToken(t, fixed(7)).Secret()
	replace := func(i int, c byte) string { return good[:i] + string(c) + good[i+1:] }
	bad := map[string]string{
		"nothing": "", "marker only": "aac_pat_", "another marker": "aac_pax_" + good[8:], "upper case": strings.ToUpper(good),
		"short": good[:len(good)-1], "long": good + "0", "space before": " " + good, "space after": good + " ",
		"newline": good[:len(good)-1] + "\n", "with scheme": "Bearer " + good, "digit outside": replace(20, '-'),
		"NUL": replace(20, 0), "not ASCII": replace(20, 0xc3), "over 256 bits": "aac_pat_" + strings.Repeat("z", 49),
	}
	for i := range good {
		c := byte('0')
		if good[i] == c {
			c = '1'
		}
		bad[fmt.Sprintf("mistyped at %d", i)] = replace(i, c)
	}
	for i := len("aac_pat_"); i+1 < len(good); i++ {
		if good[i] != good[i+1] {
			bad[fmt.Sprintf("swapped at %d", i)] = good[:i] + good[i+1:i+2] + good[i:i+1] + good[i+2:]
		}
	}
	for name, text := range bad {
		tok, err := token.Parse(text)
		f := fault.Of(err)
		if err == nil || f.Kind != fault.Unauthenticated || f.Reason != fault.TokenMalformed || tok.Secret() != "" {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && text != "" && strings.Contains(err.Error(), text) && text != "aac_pat_" {
			t.Errorf("%s: the error repeats what was sent", name)
		}
	}
}

func TestNothingPrintsTheSecret(t *testing.T) {
	tok := newToken(t, nil)
	random := tok.Secret()[token.PrefixLength:]
	type inside struct {
		Public  token.Token
		private token.Token
		pointer *token.Token
		list    []token.Token
		any     any
	}
	holder := inside{tok, tok, &tok, []token.Token{tok}, tok}
	var out strings.Builder
	seen := 0
	for _, value := range []any{tok, &tok, holder, &holder, []token.Token{tok}, map[string]token.Token{"t": tok}, fmt.Errorf("x %w %v", io.EOF, tok)} {
		for verb := rune('A'); verb <= 'z'; verb++ {
			for _, flags := range []string{"", "+", "#", "-100", "0", " ", "# "} {
				fmt.Fprintf(&out, "%"+flags+string(verb)+"\n", value)
				seen++
			}
		}
		fmt.Fprint(&out, value)
		fmt.Fprintln(&out, value)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", value)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", value)
		if data, err := json.Marshal(value); err == nil {
			out.Write(data)
		}
	}
	if seen < 1000 || !strings.Contains(out.String(), tok.Prefix()) {
		t.Fatalf("looked at %d outputs, and the prefix is in none", seen)
	}
	for name, needle := range map[string]string{
		"plain": random, "hex": fmt.Sprintf("%x", random), "HEX": fmt.Sprintf("%X", random),
		"spaced hex": fmt.Sprintf("% x", random), "bytes": strings.Trim(fmt.Sprint([]byte(random)), "[]"),
		"part": random[:8],
	} {
		if strings.Contains(out.String(), needle) {
			t.Errorf("the secret was printed (%s)", name)
		}
	}
}

func TestTheZeroToken(t *testing.T) {
	var zero token.Token
	if zero.Secret() != "" || zero.Prefix() != "" || fmt.Sprint(zero) != "" {
		t.Error("the zero token says something")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("")
	f.Add("aac_pat_")
	f.Add("aac_pat_" + strings.Repeat("0", 49))
	f.Add("aac_pat_" + strings.Repeat("z", 49))
	for _, b := range []fixed{0, 1, 0xff} {
		tok, err := token.New(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(tok.Secret())
	}
	f.Fuzz(func(t *testing.T, text string) {
		tok, err := token.Parse(text)
		if err != nil {
			if fault.Of(err).Reason != fault.TokenMalformed {
				t.Fatalf("refused for another reason: %v", err)
			}
			return
		}
		if tok.Secret() != text || len(text) != 57 || tok.Prefix() != text[:12] {
			t.Fatal("accepted what is not the text of a token")
		}
	})
}
