package policy

import "slices"

// Keys of conditions. Source: Service Authorization Reference, DynamoDB.
const (
	leadingKeys        = "dynamodb:LeadingKeys"
	enclosingOperation = "dynamodb:EnclosingOperation"
)

// An operator tells whether what a call has (nil: it has no such key) satisfies what a statement
// wants, and which of the wanted values were met.
type operator func(has, wants []string) (met []string, holds bool)

// operators are those that the template uses, and their plain forms. Source: IAM, "Condition
// operators" and "Multivalued context keys".
var operators = map[string]operator{
	// All of none are like anything.
	"ForAllValues:StringLike":   func(has, wants []string) ([]string, bool) { return all(has, wants, like) },
	"ForAllValues:StringEquals": func(has, wants []string) ([]string, bool) { return all(has, wants, equal) },
	"ForAnyValue:StringLike":    func(has, wants []string) ([]string, bool) { return some(has, wants, like) },
	"ForAnyValue:StringEquals":  func(has, wants []string) ([]string, bool) { return some(has, wants, equal) },
	"Null": func(has, wants []string) ([]string, bool) {
		absent := len(has) == 0
		return nil, slices.Equal(wants, []string{map[bool]string{true: "true", false: "false"}[absent]})
	},
}

func equal(pattern, value string) bool { return pattern == value }

func all(has, wants []string, match func(pattern, value string) bool) (met []string, holds bool) {
	for _, value := range has {
		i := slices.IndexFunc(wants, func(pattern string) bool { return match(pattern, value) })
		if i < 0 {
			return nil, false
		}
		met = append(met, wants[i])
	}
	return met, true
}

func some(has, wants []string, match func(pattern, value string) bool) (met []string, holds bool) {
	for _, value := range has {
		for _, pattern := range wants {
			if match(pattern, value) {
				met = append(met, pattern)
			}
		}
	}
	return met, len(met) > 0
}

// like compares as StringLike does: * is any text, ? any one character.
func like(pattern, value string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*':
			for j := 0; j <= len(value); j++ {
				if like(pattern[i+1:], value[j:]) {
					return true
				}
			}
			return false
		case '?':
			if value == "" {
				return false
			}
		default:
			if value == "" || value[0] != pattern[i] {
				return false
			}
		}
		value = value[1:]
	}
	return value == ""
}
