package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/rogpeppe/go-internal/testscript"
	bolt "go.etcd.io/bbolt"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/embedded"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// onFile keeps the data of a script in a file, as a local connector does.
type onFile struct{ dir string }

func (p *onFile) prepare(env *testscript.Env) {
	p.dir = filepath.Join(env.WorkDir, "data")
	env.Setenv(envDataTable, "")
	env.Setenv(envAuditTable, "")
}

func (p *onFile) flags() []string { return []string{"-data", p.dir} }

func (p *onFile) path() string { return filepath.Join(p.dir, dataFile) }

func (p *onFile) use(f func(table.Writer) error) error {
	db, err := embedded.Open(p.path())
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}

// dump reads the file itself, for a table.Reader cannot read what it has no key for.
func (p *onFile) dump() (map[string]string, error) {
	all := map[string]string{}
	if _, err := os.Stat(p.path()); errors.Is(err, os.ErrNotExist) {
		return all, nil
	}
	db, err := bolt.Open(p.path(), 0o600, nil)
	if err != nil {
		return nil, err
	}
	err = db.View(func(tx *bolt.Tx) error {
		for _, name := range []table.Name{table.Data, table.Audit} {
			err := tx.Bucket([]byte(name.String())).ForEach(func(key, value []byte) error {
				head, width := binary.Uvarint(value) // the document lies behind the head
				all[fmt.Sprintf("%s %q", name, key)] = string(value[width+int(head):])
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return all, errors.Join(err, db.Close())
}

// onDynamoDB keeps them in two tables of the engine behind the real API.
type onDynamoDB struct {
	conn dynamo.Conn
}

func (p *onDynamoDB) prepare(env *testscript.Env) {
	env.Setenv(envDataTable, p.conn.Tables.Data)
	env.Setenv(envAuditTable, p.conn.Tables.Audit)
}

func (*onDynamoDB) flags() []string { return nil }

func (p *onDynamoDB) use(f func(table.Writer) error) error { return f(writer.Open(p.conn)) }

func (p *onDynamoDB) dump() (map[string]string, error) {
	all := map[string]string{}
	for _, name := range []table.Name{table.Data, table.Audit} {
		pages := dynamodb.NewScanPaginator(p.conn.API, &dynamodb.ScanInput{TableName: p.conn.Table(name)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(context.Background())
			if err != nil {
				return nil, err
			}
			for _, attributes := range page.Items {
				it, err := dynamo.Decode(name, attributes)
				if err != nil {
					return nil, err
				}
				all[fmt.Sprintf("%s %q %q", name, it.PK, it.SK)] = string(it.Doc)
			}
		}
	}
	return all, nil
}
