package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
)

// access is one thing that a call asks for. A transaction asks for one with each of its parts:
// AWS judges them by the actions of single items. Source: DynamoDB, "Using IAM with
// transactions".
type access struct {
	action   string // dynamodb:GetItem
	resource string // ${DataTable.Arn}, as the template writes it
	keys     []string
	within   string // the operation that encloses it, if one does
}

func (a access) String() string {
	s := a.action + " on " + a.resource
	for _, key := range a.keys {
		family, _, _ := strings.Cut(key, "#")
		s += " " + family + "#…"
	}
	if a.within != "" {
		s += " within " + a.within
	}
	return s
}

// context returns the values that the access has for the key of a condition.
func (a access) context(key string) []string {
	switch {
	case key == leadingKeys:
		return a.keys
	case key == enclosingOperation && a.within != "":
		return []string{a.within}
	}
	return nil
}

type attributes = map[string]types.AttributeValue

// accessesOf takes a call apart. What is not listed here is not allowed, whatever a statement says.
func accessesOf(tables dynamo.Tables, input any) ([]access, error) {
	c := call{tables: tables}
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		c.item("GetItem", in.TableName, in.Key)
	case *dynamodb.BatchGetItemInput:
		for name, part := range in.RequestItems {
			c.item("BatchGetItem", &name, part.Keys...)
		}
	case *dynamodb.QueryInput:
		c.query(in)
	case *dynamodb.PutItemInput:
		c.item("PutItem", in.TableName, in.Item)
	case *dynamodb.UpdateItemInput:
		c.item("UpdateItem", in.TableName, in.Key)
	case *dynamodb.DeleteItemInput:
		c.item("DeleteItem", in.TableName, in.Key)
	case *dynamodb.TransactWriteItemsInput:
		c.within = "TransactWriteItems"
		for _, part := range in.TransactItems {
			c.part(part)
		}
	default:
		return nil, fmt.Errorf("%T, which no function needs", input)
	}
	return c.accesses, c.err
}

// call collects what a call asks for.
type call struct {
	tables   dynamo.Tables
	within   string
	accesses []access
	err      error
}

func (c *call) part(p types.TransactWriteItem) {
	switch {
	case p.Put != nil:
		c.item("PutItem", p.Put.TableName, p.Put.Item)
	case p.Update != nil:
		c.item("UpdateItem", p.Update.TableName, p.Update.Key)
	case p.Delete != nil:
		c.item("DeleteItem", p.Delete.TableName, p.Delete.Key)
	case p.ConditionCheck != nil:
		c.item("ConditionCheckItem", p.ConditionCheck.TableName, p.ConditionCheck.Key)
	default:
		c.err = errors.New("a part of a transaction that does nothing")
	}
}

func (c *call) item(action string, table *string, items ...attributes) {
	a := access{action: "dynamodb:" + action, resource: c.arn(table), within: c.within}
	for _, item := range items {
		key, ok := item[schema.PK].(*types.AttributeValueMemberS)
		if !ok {
			c.err = fmt.Errorf("%s without a partition key", action)
			return
		}
		a.keys = append(a.keys, key.Value)
	}
	c.accesses = append(c.accesses, a)
}

// keyCondition finds the partition key in a condition: it is compared with = and a value.
var keyCondition = regexp.MustCompile(`^\s*(\w+)\s*=\s*(:\w+)\b`)

func (c *call) query(in *dynamodb.QueryInput) {
	a := access{action: "dynamodb:Query", resource: c.arn(in.TableName)}
	if in.IndexName != nil {
		a.resource += "/index/" + *in.IndexName
	}
	if in.KeyConditionExpression != nil {
		if m := keyCondition.FindStringSubmatch(*in.KeyConditionExpression); m != nil {
			if key, ok := in.ExpressionAttributeValues[m[2]].(*types.AttributeValueMemberS); ok {
				a.keys = []string{key.Value}
			}
		}
	}
	c.accesses = append(c.accesses, a)
}

// arn returns the table as the template writes it.
func (c *call) arn(name *string) string {
	switch {
	case name == nil || *name == "":
	case *name == c.tables.Data:
		return "${DataTable.Arn}"
	case *name == c.tables.Audit:
		return "${AuditTable.Arn}"
	}
	c.err = errors.New("a table that is none of the template's")
	return ""
}
