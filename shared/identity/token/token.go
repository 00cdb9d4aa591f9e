// Package token makes, keeps and checks personal access tokens: the secrets by which members
// act through programs.
//
// Only a hash of a secret is ever stored, and a Token that is printed or logged shows no more
// than its first characters. The package decides who calls; what they may do is decided by
// identity.Require. Start with token.go for the form of a token, issue.go for its life and
// verify.go for the check that each request passes.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// The form of a token: marker, 256 random bits, checksum over both.
//
//	aac_pat_ + 43 base62 digits + 6 base62 digits
//
// The marker and the checksum let a secret scanner tell a real token from a look-alike, and
// let a mistyped one be refused without a look into the table.
const (
	marker         = "aac_pat_"
	secretBytes    = 32
	secretDigits   = 43 // the fewest that hold 256 bits
	checksumDigits = 6  // the fewest that hold 32 bits
	secretLength   = len(marker) + secretDigits + checksumDigits

	// PrefixLength is how many characters of a token may be shown, so that its owner can tell
	// it from others: the marker and 4 of 43 secret digits.
	PrefixLength = len(marker) + 4
)

// Token is a well-formed personal access token. Whether it is anybody's is for a Verifier to
// say. The zero Token is no token.
type Token struct {
	// secret is behind a pointer because fmt prints the fields of a struct that holds a Token
	// in an unexported field without asking the Token's methods; of a pointer it prints the
	// address.
	secret *string
}

// New makes a token from 256 random bits of the reader; nil means the system's source. It
// fails only if the reader does.
func New(random io.Reader) (Token, error) {
	if random == nil {
		random = rand.Reader
	}
	var bits [secretBytes]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return Token{}, fmt.Errorf("read random bits for a token: %w", err)
	}
	text := marker + encode(bits[:], secretDigits)
	text += checksum(text)
	return Token{&text}, nil
}

// Parse reads a token as a caller sent it. What is not one, or was mistyped, is an
// unauthenticated fault with the reason token_malformed; nothing is known of it then.
func Parse(text string) (Token, error) {
	if len(text) != secretLength || !strings.HasPrefix(text, marker) {
		return Token{}, malformed()
	}
	body, sum := text[:secretLength-checksumDigits], text[secretLength-checksumDigits:]
	if !canonical(body[len(marker):]) {
		return Token{}, malformed()
	}
	if subtle.ConstantTimeCompare([]byte(checksum(body)), []byte(sum)) != 1 {
		return Token{}, malformed()
	}
	return Token{&text}, nil
}

// Marked tells whether a text begins as personal tokens do, so that no other kind of token need
// be tried.
func Marked(text string) bool { return strings.HasPrefix(text, marker) }

func malformed() error {
	return fault.New(fault.Unauthenticated, fault.TokenMalformed,
		"this is not a valid token, or not all of it: copy it again from "+marker+" to its last character")
}

func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	return encode([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}, checksumDigits)
}

// Secret returns the whole token. Show it once, to its owner, and keep it nowhere.
func (t Token) Secret() string {
	if t.secret == nil {
		return ""
	}
	return *t.secret
}

// Prefix returns the characters that may be shown.
func (t Token) Prefix() string {
	if t.secret == nil {
		return ""
	}
	return (*t.secret)[:PrefixLength]
}

// Hash is what is kept of a token. 256 random bits need neither salt nor stretching.
type Hash [sha256.Size]byte

// Hash returns the SHA-256 of the whole token.
func (t Token) Hash() Hash { return sha256.Sum256([]byte(t.Secret())) }

// String returns the hash in lower-case hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// The methods below keep the secret out of whatever prints or encodes a Token.

// String returns the prefix.
func (t Token) String() string { return t.Prefix() }

// GoString returns the prefix.
func (t Token) GoString() string { return t.Prefix() }

// Format writes the prefix, whatever the verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.Prefix()) }

// LogValue returns the prefix.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.Prefix()) }

// MarshalText returns the prefix. There is no way back: read a token with Parse.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.Prefix()), nil }
