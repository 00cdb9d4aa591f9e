package token

import (
	"math/big"
	"strings"
)

// digits is in the order of ASCII, so that numerals of one width sort as their numbers do.
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// largest is the numeral of 256 bits all set.
var largest = encode([]byte(strings.Repeat("\xff", secretBytes)), secretDigits)

// encode writes a big-endian number as a numeral of the given width, which must suffice.
func encode(number []byte, width int) string {
	n, base, digit := new(big.Int).SetBytes(number), big.NewInt(int64(len(digits))), new(big.Int)
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = digits[digit.Int64()]
	}
	return string(out)
}

// canonical tells whether encode could have written the numeral for 256 bits: 43 digits reach
// a little further.
func canonical(numeral string) bool {
	for i := range len(numeral) {
		if strings.IndexByte(digits, numeral[i]) < 0 {
			return false
		}
	}
	return len(numeral) == secretDigits && numeral <= largest
}
