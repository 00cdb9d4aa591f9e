package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/infra/stack"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
)

var tables = dynamo.Tables{Data: "data", Audit: "audit"}

// statements are those of a tool that writes.
func statements() []stack.Statement {
	heldTo := func(keys ...string) map[string]map[string][]string {
		return map[string]map[string][]string{
			"ForAllValues:StringLike": {leadingKeys: keys}, "Null": {leadingKeys: {"false"}},
		}
	}
	commit := heldTo("WS#*", "C#*")
	commit["ForAnyValue:StringEquals"] = map[string][]string{enclosingOperation: {"TransactWriteItems"}}
	return []stack.Statement{
		{Sid: "Read", Effect: "Allow", Actions: []string{"dynamodb:BatchGetItem", "dynamodb:Query"}, Resources: []string{"${DataTable.Arn}"}, Condition: heldTo("WS#*")},
		{Sid: "Index", Effect: "Allow", Actions: []string{"dynamodb:Query"}, Resources: []string{"${DataTable.Arn}/index/byStatus"}},
		{Sid: "Put", Effect: "Allow", Actions: []string{"dynamodb:PutItem"}, Resources: []string{"${DataTable.Arn}"}, Condition: commit},
		{Sid: "Record", Effect: "Allow", Actions: []string{"dynamodb:PutItem"}, Resources: []string{"${AuditTable.Arn}"}, Condition: heldTo("T#x#*")},
	}
}

func pk(key string) attributes {
	return attributes{"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: "s"}}
}

func batch(table string, keys ...string) *dynamodb.BatchGetItemInput {
	var all []attributes
	for _, key := range keys {
		all = append(all, pk(key))
	}
	return &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: all}}}
}

func query(index, key string) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName: aws.String("data"), KeyConditionExpression: aws.String("pk = :pk AND sk > :from"),
		ExpressionAttributeValues: attributes{":pk": &types.AttributeValueMemberS{Value: key}},
	}
	if index != "" {
		in.IndexName = aws.String(index)
	}
	return in
}

func put(table, key string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: aws.String(table), Item: pk(key)}}
}

func commit(parts ...types.TransactWriteItem) *dynamodb.TransactWriteItemsInput {
	return &dynamodb.TransactWriteItemsInput{TransactItems: parts}
}

func TestAllowed(t *testing.T) {
	for name, input := range map[string]any{
		"some keys":         batch("data", "WS#1", "WS#2"),
		"a range":           query("", "WS#1"),
		"an index":          query("byStatus", "WS#1#S#todo"),
		"a commit":          commit(put("data", "WS#1"), put("data", "C#1#7"), put("audit", "T#x#1#2025-06-22")),
		"an event":          &dynamodb.PutItemInput{TableName: aws.String("audit"), Item: pk("T#x#1#2025-06-22")},
		"a read of nothing": batch("data"), // which AWS refuses by itself
	} {
		p, err := New("x", statements())
		if err != nil {
			t.Fatal(err)
		}
		err = p.Check(tables, input)
		if name == "a read of nothing" {
			if err == nil {
				t.Error("a call without keys was allowed: its condition demands some")
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDenied(t *testing.T) {
	data, audit := aws.String("data"), aws.String("audit")
	noEquals := query("", "WS#1")
	noEquals.KeyConditionExpression = aws.String("begins_with(pk, :pk)")
	for name, input := range map[string]any{
		"another key family":             batch("data", "TOK#1"),
		"one key too many":               batch("data", "WS#1", "TOK#1"),
		"another table":                  batch("audit", "T#x#1"),
		"a table of others":              batch("elsewhere", "WS#1"),
		"both tables":                    &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"data": {Keys: []attributes{pk("WS#1")}}, "audit": {Keys: []attributes{pk("T#x#1")}}}},
		"another index":                  query("byUpdated", "WS#1"),
		"a range of anything":            noEquals,
		"an action not listed":           &dynamodb.GetItemInput{TableName: data, Key: pk("WS#1")},
		"a write outside a commit":       &dynamodb.PutItemInput{TableName: data, Item: pk("WS#1")},
		"a change":                       &dynamodb.UpdateItemInput{TableName: data, Key: pk("WS#1")},
		"a removal":                      &dynamodb.DeleteItemInput{TableName: data, Key: pk("WS#1")},
		"a commit with another family":   commit(put("data", "WS#1"), put("data", "TOK#1")),
		"a commit with a removal":        commit(put("data", "WS#1"), types.TransactWriteItem{Delete: &types.Delete{TableName: data, Key: pk("WS#2")}}),
		"a commit with a check":          commit(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: data, Key: pk("WS#2")}}),
		"a commit with a change":         commit(types.TransactWriteItem{Update: &types.Update{TableName: data, Key: pk("WS#2")}}),
		"a commit of nothing":            commit(types.TransactWriteItem{}),
		"an event of another":            &dynamodb.PutItemInput{TableName: audit, Item: pk("T#y#1")},
		"an event of one with more name": &dynamodb.PutItemInput{TableName: audit, Item: pk("T#xy#1")},
		"an item without a key":          &dynamodb.PutItemInput{TableName: audit, Item: attributes{}},
		"a removal of an event":          &dynamodb.DeleteItemInput{TableName: audit, Key: pk("T#x#1")},
		"a scan":                         &dynamodb.ScanInput{TableName: data},
		"a batch of writes":              &dynamodb.BatchWriteItemInput{},
		"PartiQL":                        &dynamodb.ExecuteStatementInput{},
		"the table itself":               &dynamodb.DeleteTableInput{TableName: data},
	} {
		p, err := New("x", statements())
		if err != nil {
			t.Fatal(err)
		}
		err = p.Check(tables, input)
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode() != "AccessDeniedException" {
			t.Errorf("%s: error %v, want AccessDeniedException", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "WS#1") {
			t.Errorf("%s: the error repeats a key: %v", name, err)
		}
		if len(p.Unused()) != 14 {
			t.Errorf("%s: a call that was denied has used %d rights", name, 14-len(p.Unused()))
		}
	}
}

func TestADenialOutweighs(t *testing.T) {
	p, err := New("x", append(statements(), stack.Statement{Effect: "Deny", Actions: []string{"dynamodb:*"}, Resources: []string{"*"}}))
	if err != nil {
		t.Fatal(err)
	}
	if p.Check(tables, query("", "WS#1")) == nil {
		t.Error("it was allowed")
	}
}

func TestUnused(t *testing.T) {
	p, err := New("x", statements())
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range []any{
		batch("data", "WS#1"), query("byStatus", "WS#1"), commit(put("data", "WS#1"), put("audit", "T#x#1")),
	} {
		if err := p.Check(tables, input); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"x: statement 0 (Read): action dynamodb:Query",
		"x: statement 2 (Put): dynamodb:LeadingKeys C#*",
	}
	if d := cmp.Diff(want, p.Unused()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A statement that gives too much shows, for its wildcard is used and what it stands in for is not.
func TestWildcardsAreAllowedAsAWSAllowsThem(t *testing.T) {
	p, err := New("x", []stack.Statement{{Effect: "Allow", Actions: []string{"dynamodb:*"}, Resources: []string{"*"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(tables, &dynamodb.DeleteItemInput{TableName: aws.String("audit"), Key: pk("T#x#1")}); err != nil {
		t.Error(err)
	}
	if p.Check(tables, &dynamodb.ScanInput{TableName: aws.String("data")}) == nil {
		t.Error("an operation that is not known was allowed")
	}
}

func TestNewRefusesWhatItCannotJudge(t *testing.T) {
	for name, st := range map[string]stack.Statement{
		"an operator": {Effect: "Allow", Condition: map[string]map[string][]string{"StringNotLike": {leadingKeys: {"x"}}}},
		"a key":       {Effect: "Allow", Condition: map[string]map[string][]string{"Null": {"aws:SourceIp": {"false"}}}},
		"an effect":   {Effect: "Maybe"},
	} {
		if _, err := New("x", []stack.Statement{st}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestLike(t *testing.T) {
	for _, tt := range []struct {
		pattern, value string
		want           bool
	}{
		{"a*", "a", true}, {"a*", "abc", true}, {"a*c", "abbc", true}, {"a*c", "abb", false}, {"*", "", true},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"a", "A", false}, {"", "", true}, {"", "a", false}, {"ab", "a", false},
		{"T#x#*", "T#xy#1", false},
	} {
		if got := like(tt.pattern, tt.value); got != tt.want {
			t.Errorf("like(%q, %q) = %t", tt.pattern, tt.value, got)
		}
	}
}

// Under stands before everything else in the client: what is denied is never sent.
func TestUnder(t *testing.T) {
	p, err := New("x", statements())
	if err != nil {
		t.Fatal(err)
	}
	conn, requests := dynamotest.Script(t, []dynamotest.Answer{{Body: `{"Items":[]}`}}, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, p.Under(tables))
	})
	if _, err := conn.API.Query(t.Context(), query("", "WS#1")); err != nil {
		t.Error(err)
	}
	_, err = conn.API.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("data"), Item: pk("WS#1")})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "AccessDeniedException" || len(requests.All()) != 1 {
		t.Errorf("error %v, %d requests", err, len(requests.All()))
	}
}

func TestForFunction(t *testing.T) {
	s, err := stack.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ForFunction(s, "archive_issue"); err == nil {
		t.Error("there is no such function")
	}
	p, err := ForFunction(s, "get_issue")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(tables, batch("data", "WS#1")); err != nil {
		t.Error(err)
	}
}

// What an attacker in a function would want, none of the template's roles gives: the rows of
// tokens, a change of the data past the commit that is recorded, the events of others, a change
// of the audit log.
func TestNoRoleGivesMore(t *testing.T) {
	s, err := stack.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	functions, err := s.Functions()
	if err != nil {
		t.Fatal(err)
	}
	data, audit := aws.String("data"), aws.String("audit")
	wishes := map[string]any{
		"read a token":           &dynamodb.GetItemInput{TableName: data, Key: pk("TOK#1")},
		"read tokens":            batch("data", "TOK#1"),
		"make a token":           commit(put("data", "TOK#1")),
		"write unrecorded":       &dynamodb.PutItemInput{TableName: data, Item: pk("WS#1")},
		"change unrecorded":      &dynamodb.UpdateItemInput{TableName: data, Key: pk("WS#1")},
		"remove an issue":        commit(types.TransactWriteItem{Delete: &types.Delete{TableName: data, Key: pk("WS#1")}}),
		"change an event":        &dynamodb.UpdateItemInput{TableName: audit, Key: pk("T#list_issues#1")},
		"remove an event":        &dynamodb.DeleteItemInput{TableName: audit, Key: pk("T#list_issues#1")},
		"remove one in a commit": commit(types.TransactWriteItem{Delete: &types.Delete{TableName: audit, Key: pk("T#list_issues#1")}}),
		"read the audit log":     &dynamodb.GetItemInput{TableName: audit, Key: pk("T#list_issues#1")},
		"write as an operator":   &dynamodb.PutItemInput{TableName: audit, Item: pk("T#_admin#1")},
		"write as nobody":        &dynamodb.PutItemInput{TableName: audit, Item: pk("T#")},
		"write as all":           &dynamodb.PutItemInput{TableName: audit, Item: pk("T#*")},
		"read everything":        &dynamodb.ScanInput{TableName: data},
	}
	may := map[string]string{"read a token": "authorizer"}
	silent := []string{"discovery", "audit_monitor", "audit_widget"} // they record nothing
	asked := 0
	for program := range functions {
		p, err := ForFunction(s, program)
		if err != nil {
			t.Fatal(err)
		}
		for wish, input := range wishes {
			asked++
			if err := p.Check(tables, input); (err == nil) != (may[wish] == program) {
				t.Errorf("%s: %s: error %v", program, wish, err)
			}
		}
		// Each records as itself alone.
		for other := range functions {
			recorder := map[string]string{"mcp": "_mcp", "authorizer": "_authorizer", "audit_query": "_audit"}[other]
			if recorder == "" {
				recorder = other
			}
			err := p.Check(tables, &dynamodb.PutItemInput{TableName: audit, Item: pk("T#" + recorder + "#1")})
			if want := program == other && !slices.Contains(silent, program); (err == nil) != want {
				t.Errorf("%s records as %s: error %v", program, recorder, err)
			}
		}
	}
	if asked < 15*len(wishes) {
		t.Errorf("asked %d times only", asked)
	}
}
