package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
)

// Limits, in bytes. API Gateway takes 10,240 for all headers of a request.
const (
	maxToken  = 8 << 10
	maxHeader = 2 << 10 // decoded
	maxKeyID  = 256
)

// form is an access token whose form is right. Nothing in it is to be believed but what verify
// returns.
type form struct {
	text      string
	algorithm jwa.SignatureAlgorithm
	keyID     string
	issuer    string // claimed
}

// header is what is read of a JOSE header (RFC 7515, section 4.1). A key that comes with the
// token, or an address of one, is the attacker's: such members are not read at all.
type header struct {
	Algorithm   string         `json:"alg"`
	KeyID       string         `json:"kid"`
	Type        string         `json:"typ"`
	ContentType string         `json:"cty"`
	Critical    jsontext.Value `json:"crit"`
	Unencoded   jsontext.Value `json:"b64"`
}

// parse reads the form of an access token: three parts, an algorithm with a public key, a key
// id. It refuses repeated members, for two readers could take two of them.
func parse(text string) (form, error) {
	if len(text) > maxToken {
		return form{}, errors.New("it is too long")
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return form{}, errors.New("it is not made of three parts")
	}
	for _, part := range parts {
		if _, err := decodePart(part); err != nil {
			return form{}, errors.New("a part of it is not base64url")
		}
	}
	h, err := readHeader(parts[0])
	if err != nil {
		return form{}, err
	}
	algorithm, ok := algorithms[h.Algorithm]
	if !ok {
		return form{}, errors.New("its algorithm is not accepted")
	}
	claimed, err := claimedIssuer(parts[1])
	if err != nil {
		return form{}, err
	}
	return form{text, algorithm, h.KeyID, claimed}, nil
}

// decodePart takes base64url without padding and with nothing in the unused bits, so that a
// text has one way to be written.
func decodePart(part string) ([]byte, error) {
	if strings.ContainsAny(part, "\r\n") { // the decoder would pass them over
		return nil, errors.New("line end")
	}
	return base64.RawURLEncoding.Strict().DecodeString(part)
}

func readHeader(part string) (header, error) {
	var h header
	data, err := decodePart(part)
	if err != nil || len(data) > maxHeader || json.Unmarshal(data, &h) != nil {
		return header{}, errors.New("its header cannot be read")
	}
	switch {
	case h.Critical != nil || h.Unencoded != nil:
		return header{}, errors.New("its header demands an extension")
	case !isAccessType(h.Type):
		return header{}, errors.New("its header says that it is something else")
	case h.ContentType != "":
		return header{}, errors.New("it holds another token")
	case h.KeyID == "" || len(h.KeyID) > maxKeyID:
		return header{}, errors.New("its header names no key")
	}
	return h, nil
}

// isAccessType accepts what issuers write: RFC 9068 says at+jwt, many say JWT, some nothing.
func isAccessType(typ string) bool {
	switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
	case "", "jwt", "at+jwt":
		return true
	}
	return false
}

// claimedIssuer reads whose keys to try.
func claimedIssuer(part string) (string, error) {
	var claimed struct {
		Issuer string `json:"iss"`
	}
	data, err := decodePart(part)
	if err != nil || json.Unmarshal(data, &claimed) != nil {
		return "", errors.New("its claims cannot be read")
	}
	return claimed.Issuer, nil
}

// algorithms are those that are accepted: signatures that are made with a private key. The rest
// (none, and those whose key would be a secret that we share) is not, whatever keys there are.
var algorithms = map[string]jwa.SignatureAlgorithm{
	"RS256": jwa.RS256(), "RS384": jwa.RS384(), "RS512": jwa.RS512(),
	"PS256": jwa.PS256(), "PS384": jwa.PS384(), "PS512": jwa.PS512(),
	"ES256": jwa.ES256(), "ES384": jwa.ES384(), "ES512": jwa.ES512(),
	"EdDSA": jwa.EdDSA(),
}

// publicKey is a key of an issuer.
type publicKey struct {
	key       crypto.PublicKey // *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
	algorithm string           // the only one it is for; empty: any that fits
}

// verify tells whether the key signed the token, and returns what it signed.
func (t form) verify(k publicKey) ([]byte, bool) {
	if !k.fits(t.algorithm.String()) {
		return nil, false
	}
	payload, err := jws.Verify([]byte(t.text), jws.WithKey(t.algorithm, k.key),
		jws.WithCompact(), jws.WithAlgorithmMatch(true), jws.WithCritValidation(true))
	return payload, err == nil
}

// fits tells whether the key is of the algorithm's kind: the token does not choose how a key is
// used.
func (k publicKey) fits(algorithm string) bool {
	if k.algorithm != "" && k.algorithm != algorithm {
		return false
	}
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")
	case *ecdsa.PublicKey:
		return curves[algorithm] == key.Curve
	case ed25519.PublicKey:
		return algorithm == "EdDSA"
	}
	return false
}

// curves of the algorithms. Source: RFC 7518, section 3.4.
var curves = map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()}
