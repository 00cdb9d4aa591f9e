package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a document's values. Source: DynamoDB, "Data types": numbers have up to 38
// significant digits and magnitudes from 1e-130 to below 1e126, documents nest up to 32 levels
// (the item itself being one).
const (
	maxDigits   = 38
	minExponent = -130
	maxExponent = 125
	maxDepth    = 31
)

// checkDoc walks a document once. It never holds more than one token.
func checkDoc(doc json.RawMessage) error {
	if !utf8.Valid(doc) {
		return errors.New("the document is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	first, err := dec.Token()
	if err != nil || first != json.Delim('{') {
		return errors.New("the document is not a JSON object")
	}
	if err := checkObject(dec, 1); err != nil {
		return fmt.Errorf("document: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("the document goes on behind its closing brace")
	}
	return nil
}

// checkObject reads the members of an object whose opening brace has been read.
func checkObject(dec *json.Decoder, depth int) error {
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // the decoder lets nothing else stand here
		switch {
		case name == "":
			return errors.New("a member has an empty name")
		case seen[name]:
			return errors.New("a member occurs twice")
		case depth == 1 && reservedName(name):
			return fmt.Errorf("the member name %q belongs to the engine: choose another", name)
		}
		seen[name] = true
		if err := checkValue(dec, depth); err != nil {
			return err
		}
	}
	_, err := dec.Token() // the closing brace
	return err
}

func checkArray(dec *json.Decoder, depth int) error {
	for dec.More() {
		if err := checkValue(dec, depth); err != nil {
			return err
		}
	}
	_, err := dec.Token() // the closing bracket
	return err
}

func checkValue(dec *json.Decoder, depth int) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Number:
		return checkNumber(v.String())
	case json.Delim:
		if depth == maxDepth {
			return fmt.Errorf("more than %d levels deep", maxDepth)
		}
		if v == '{' {
			return checkObject(dec, depth+1)
		}
		return checkArray(dec, depth+1)
	}
	return nil
}

// reservedName tells whether a top-level member would collide with what an engine stores beside
// the document.
func reservedName(name string) bool {
	switch name {
	case "pk", "sk", "v", "ttl":
		return true
	}
	return strings.HasSuffix(name, "_pk") || strings.HasSuffix(name, "_sk")
}

// checkNumber takes a JSON number apart: sign, digits, exponent.
func checkNumber(s string) error {
	mantissa, exp := strings.TrimPrefix(s, "-"), 0
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		n, err := strconv.Atoi(mantissa[i+1:])
		if err != nil {
			return errors.New("a number is out of range")
		}
		mantissa, exp = mantissa[:i], n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp += len(whole) - 1 // of the first digit
	digits := strings.TrimLeft(whole+fraction, "0")
	exp -= len(whole) + len(fraction) - len(digits)
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return nil // zero
	}
	if len(digits) > maxDigits {
		return fmt.Errorf("a number has more than %d digits", maxDigits)
	}
	if exp < minExponent || exp > maxExponent {
		return errors.New("a number is out of range")
	}
	return nil
}
