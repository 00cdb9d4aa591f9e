// Command localdynamo runs a DynamoDB on this machine, in memory, with the demo data in tables
// of the connector's layout, and prints who may call and how to point programs at it. Programs
// that are started by hand, such as sam local, then have data.
//
// It is not for local mode, which needs no DynamoDB (functions/local). `make sam-local` does all
// that is done here by itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/seed"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8000", "where to listen; whoever reaches it can do anything to the data")
	data := flag.String("data-table", "DataTable", "name of the data table")
	audit := flag.String("audit-table", "AuditTable", "name of the audit table")
	url := flag.String("url", "http://127.0.0.1:3000", "where the functions will be called, for -file")
	file := flag.String("file", ".local/sam/local.json", "where to write the tokens")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, dynamo.Tables{Data: *data, Audit: *audit}, *url, *file); err != nil {
		fmt.Fprintln(os.Stderr, "localdynamo:", err)
		os.Exit(1)
	}
}

// run serves until the context ends.
func run(ctx context.Context, addr string, tables dynamo.Tables, url, file string) (err error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("-addr: %w; say a host and a port, such as 127.0.0.1:8000", err)
	}
	engine, err := dynamotest.Launch(addr)
	if err != nil {
		return err
	}
	defer func() {
		if stopErr := engine.Stop(); err == nil {
			err = stopErr
		}
	}()
	conn := dynamo.Conn{API: seed.Client(engine.Endpoint), Tables: tables}
	if err := dynamotest.CreateTables(ctx, conn.API, tables); err != nil {
		return err
	}
	access, err := seed.Demo(ctx, conn, time.Now())
	if err != nil {
		return err
	}
	if err := access.WriteFile(file, url); err != nil {
		return err
	}
	fmt.Printf("DynamoDB with the demo data: %s\nTokens, kept in %s:\n\n", engine.Endpoint, file)
	if err := access.Print(os.Stdout); err != nil {
		return err
	}
	fmt.Printf(`
For programs on this machine:

  export AWS_ENDPOINT_URL_DYNAMODB=%s AWS_REGION=%s AWS_ACCESS_KEY_ID=%[3]s AWS_SECRET_ACCESS_KEY=%[3]s
  export AAC_DATA_TABLE=%[4]s AAC_AUDIT_TABLE=%[5]s

Stop with Ctrl-C; the data are then gone.
`, engine.Endpoint, seed.Region, seed.Key, tables.Data, tables.Audit)
	<-ctx.Done()
	return nil
}
