// Package schema says once what the two DynamoDB tables look like: keys, indexes, expiry.
//
// It is data only and knows no AWS library. The engines take attribute names from it, the tests
// make their tables from it, and the deployed tables in template.yaml are compared with it. For
// what lies in the tables read package records and package audit.
package schema

import "github.com/aacworkflow/mcp-connector/shared/table"

// The attributes that every item has beside the members of its document. PK and SK are the key
// of the table, both strings.
const (
	PK      = "pk"
	SK      = "sk"
	Version = "v"   // number; what table.IfVersion compares
	TTL     = "ttl" // number, Unix seconds; DynamoDB expires the item some time after it
)

// Table is the layout of one table.
type Table struct {
	Name    table.Name
	PK, SK  string // names of the key attributes; strings
	TTL     string // name of the expiry attribute
	Indexes []Index
}

// Index is the layout of one global secondary index. It projects all attributes, for a query
// answers whole items; an item without the two key attributes is not in it.
type Index struct {
	Name   string
	PK, SK string // names of the key attributes; strings
}

// For returns the layout of a table.
func For(name table.Name) Table {
	t := Table{Name: name, PK: PK, SK: SK, TTL: TTL}
	for _, index := range table.Indexes(name) {
		pk, sk := KeysOf(index)
		t.Indexes = append(t.Indexes, Index{Name: string(index), PK: pk, SK: sk})
	}
	return t
}

// KeysOf names the key attributes of an index, or of the table itself for table.Primary.
func KeysOf(index table.Index) (pk, sk string) {
	if index == table.Primary {
		return PK, SK
	}
	return string(index) + "_" + PK, string(index) + "_" + SK
}
