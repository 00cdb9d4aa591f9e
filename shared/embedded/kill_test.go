package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// committerFile, when set, makes this test binary commit to that file until it is killed.
const committerFile = "EMBEDDED_TEST_COMMIT_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(committerFile); path != "" {
		fmt.Fprintln(os.Stderr, commitForEver(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const itemsPerCommit = 20

// commitForEver raises all items to the same next version, commit after commit, moves them in
// an index, and prints each version once it is committed.
func commitForEver(path string) error {
	db, err := Open(path)
	if err != nil {
		return err
	}
	last, err := lastCommit(db)
	if err != nil {
		return err
	}
	for n := last + 1; ; n++ {
		var ops []table.Op
		for i := range itemsPerCommit {
			it := table.Item{
				Key:     table.Key{Table: table.Name(i % 2), PK: "p", SK: fmt.Sprintf("%02d", i)},
				Doc:     json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)),
				Version: n,
			}
			index := table.Indexes(it.Table)[0]
			it.Index = map[table.Index]table.IndexKey{index: {PK: "all", SK: fmt.Sprintf("%020d#%02d", n, i)}}
			ops = append(ops, table.Put(it, table.Guard{}))
		}
		if err := db.Commit(context.Background(), ops); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// lastCommit returns the version that all items have, in the tables and in their indexes, or an
// error if they differ.
func lastCommit(db *DB) (int64, error) {
	versions := map[int64]int{}
	for _, name := range []table.Name{table.Data, table.Audit} {
		for _, q := range []table.Query{
			{Table: name, PK: "p", Limit: 100},
			{Table: name, PK: "all", Limit: 100, Index: table.Indexes(name)[0]},
		} {
			page, err := db.Query(context.Background(), q)
			if err != nil {
				return 0, err
			}
			for _, it := range page.Items {
				if string(it.Doc) != fmt.Sprintf(`{"n":%d}`, it.Version) {
					return 0, fmt.Errorf("version %d has the document %s", it.Version, it.Doc)
				}
				versions[it.Version]++
			}
		}
	}
	if len(versions) == 0 {
		return 0, nil
	}
	for version, n := range versions {
		if n == 2*itemsPerCommit {
			return version, nil
		}
	}
	return 0, fmt.Errorf("items per version, in tables and indexes: %v; want one version with %d", versions, 2*itemsPerCommit)
}

// TestKilledWhileCommitting kills a process in the middle of its commits, again and again, and
// looks at what is left: each commit whole or not at all, and none lost that was reported.
func TestKilledWhileCommitting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.db")
	for round := range 12 {
		reported := killAfter(t, path, 1+round*3)
		db, err := Open(path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		last, err := lastCommit(db)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if last < reported {
			t.Fatalf("round %d: commit %d was reported, but the file holds %d", round, reported, last)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killAfter starts a committer and kills it when it has reported so many commits. It returns
// the last one reported.
func killAfter(t *testing.T, path string, commits int) int64 {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), committerFile+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var last int64
	for seen := 0; lines.Scan(); seen++ {
		if seen == commits {
			if err := cmd.Process.Kill(); err != nil { // SIGKILL
				t.Fatal(err)
			}
		}
		if last, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the committer ended by itself: %v", err)
	}
	return last
}
