package embedded

import "github.com/aacworkflow/mcp-connector/shared/table"

// Watch has f told of the items that every commit and append puts into the audit table, once it
// is on disk and before its caller has the answer. It stands for the stream of changes of a
// deployed table. f must be quick, and is called by several goroutines at once, in no order.
// Watch itself must be called before the tables are used. A process that is killed between a
// commit and the call leaves f untold: whoever must miss nothing reads the log at the start.
func (db *DB) Watch(f func(items []table.Item)) { db.watcher = f }

// tell tells the watcher of what was put into the audit table.
func (db *DB) tell(ops []table.Op) {
	if db.watcher == nil {
		return
	}
	var items []table.Item
	for _, op := range ops {
		if op.Kind == table.OpPut && op.Item.Table == table.Audit {
			items = append(items, op.Item)
		}
	}
	if len(items) > 0 {
		db.watcher(items)
	}
}
