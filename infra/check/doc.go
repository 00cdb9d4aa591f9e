// Package check holds the promises of the project, as tests: who may import whom, what read-only
// means, how things are named. They are said here by hand a second time, beside the
// declarations, and share no code with what generates from those.
//
// It is not for behaviour: each package tests its own. Every check is a function of its input,
// runs over the repository and over a planted violation, and counts what it saw. Start with
// promises_test.go.
package check
