package budget

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// What a request and its answer say, as far as it counts. A request that is not known here is
// an error: nothing goes uncounted.

// single is an operation on one item.
type single struct {
	TableName      string
	IndexName      string
	ConsistentRead bool
	Key, Item      item
}

type batch struct {
	RequestItems map[string]struct {
		Keys           []item
		ConsistentRead bool
	}
}

type transaction struct {
	TransactItems []map[string]single // Put, Update, Delete or ConditionCheck
}

// count computes what one request took.
func count(target string, body []byte, a answer) (request, error) {
	_, operation, _ := strings.Cut(target, ".")
	counted, ok := map[string]func([]byte, answer) (request, error){
		"GetItem": countGet, "BatchGetItem": countBatch, "Query": countQuery,
		"PutItem": countPut, "UpdateItem": countUpdate, "TransactWriteItems": countTransaction,
	}[operation]
	if !ok {
		return request{}, fmt.Errorf("%s is not known to the budget: count it in wire_test.go", operation)
	}
	r, err := counted(body, a)
	if a.status != http.StatusOK {
		r.text += " (refused)"
	}
	return r, err
}

func countGet(body []byte, a answer) (r request, err error) {
	in, err := decode[single](body)
	if err != nil {
		return r, err
	}
	out, err := decode[struct{ Item item }](a.body)
	if err != nil {
		return r, err
	}
	size, err := sizeOf(out.Item)
	return request{text: "Get", kind: reading, read: readUnits(size, in.ConsistentRead)}, err
}

// countBatch counts each key by itself, found or not.
func countBatch(body []byte, a answer) (r request, err error) {
	in, err := decode[batch](body)
	if err != nil {
		return r, err
	}
	out, err := decode[struct{ Responses map[string][]item }](a.body)
	if err != nil {
		return r, err
	}
	r.kind = reading
	keys := 0
	for name, part := range in.RequestItems {
		keys += len(part.Keys)
		for _, it := range out.Responses[name] {
			size, err := sizeOf(it)
			if err != nil {
				return r, err
			}
			r.read += readUnits(size, part.ConsistentRead)
		}
		r.read += float64(len(part.Keys)-len(out.Responses[name])) * readUnits(0, part.ConsistentRead)
	}
	r.text = fmt.Sprintf("BatchGet %d", keys)
	return r, nil
}

// countQuery adds up what was read; there is no filter, so all of that was answered.
func countQuery(body []byte, a answer) (r request, err error) {
	in, err := decode[single](body)
	if err != nil {
		return r, err
	}
	out, err := decode[struct {
		Items               []item
		Count, ScannedCount int
	}](a.body)
	if err != nil {
		return r, err
	}
	if out.Count != out.ScannedCount {
		return r, fmt.Errorf("a query read %d items and answered %d: count what was read", out.ScannedCount, out.Count)
	}
	bytes := 0
	for _, it := range out.Items {
		size, err := sizeOf(it)
		if err != nil {
			return r, err
		}
		bytes += size
	}
	name := "Query"
	if in.IndexName != "" {
		name += " " + in.IndexName
	}
	return request{text: name, kind: reading, read: readUnits(bytes, in.ConsistentRead)}, nil
}

func countPut(body []byte, a answer) (request, error) {
	units, err := writtenUnits(body, a, 1)
	return request{text: "Put", kind: recording, write: units}, err
}

func countUpdate(body []byte, a answer) (request, error) {
	units, err := writtenUnits(body, a, 1)
	return request{text: "Update", kind: counting, write: units}, err
}

func countTransaction(body []byte, a answer) (request, error) {
	in, err := decode[transaction](body)
	if err != nil {
		return request{}, err
	}
	units, err := writtenUnits(body, a, transactional)
	return request{text: fmt.Sprintf("Transact %d", len(in.TransactItems)), kind: committing, write: units}, err
}

// writtenUnits is what the changes of a request take; what is only checked, or refused, counts
// as if it were written.
func writtenUnits(body []byte, a answer, times float64) (units float64, err error) {
	keys, err := written(body)
	if err != nil {
		return 0, err
	}
	for _, k := range keys {
		c := change{a.before[k.String()], a.after[k.String()]}
		n, err := c.tableUnits()
		if err != nil {
			return 0, err
		}
		units += n * times
		t, err := tableOf(k.table)
		if err != nil {
			return 0, err
		}
		for _, index := range t.Indexes {
			n, err := c.indexUnits(index)
			if err != nil {
				return 0, err
			}
			units += n
		}
	}
	return units, nil
}

// written lists the items that a request may write; none if it reads.
func written(body []byte) (keys []address, err error) {
	var in struct {
		single
		transaction
		UpdateExpression string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if in.Item != nil || in.UpdateExpression != "" {
		keys = append(keys, in.address())
	}
	for _, action := range in.TransactItems {
		for _, one := range action {
			keys = append(keys, one.address())
		}
	}
	return keys, nil
}

func (s single) address() address {
	key := s.Key
	if key == nil {
		key = item{schema.PK: s.Item[schema.PK], schema.SK: s.Item[schema.SK]}
	}
	return address{s.TableName, key}
}

// tableOf tells which of our tables has this name.
func tableOf(name string) (schema.Table, error) {
	for _, n := range []table.Name{table.Data, table.Audit} {
		if strings.HasPrefix(name, n.String()+"-") {
			return schema.For(n), nil
		}
	}
	return schema.Table{}, fmt.Errorf("%s is none of our tables", name)
}
