// Package budget counts what each call asks of DynamoDB: requests, round trips one after the
// other, read and write units. docs/requests.md is its result, a golden file, so that a call
// that becomes dearer is a line in a diff.
//
// It holds tests only, and tests no behaviour: the units are computed from what goes over the
// wire, by DynamoDB's published rules, for the test engine does not bill. Start with
// rows_test.go, which lists the calls; meter_test.go is the counting, units_test.go the rules,
// page_test.go the page.
package budget
