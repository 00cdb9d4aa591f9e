package audit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
)

func TestTimeForRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			left           time.Duration // of the call; 0: no end
			before, record time.Duration // 0: no end
		}{
			"no end":     {0, 0, 2 * time.Second},
			"plenty":     {29 * time.Second, 27 * time.Second, 28750 * time.Millisecond},
			"little":     {3 * time.Second, 1500 * time.Millisecond, 2750 * time.Millisecond},
			"too little": {time.Second, 500 * time.Millisecond, 2 * time.Second},
			"none":       {-time.Second, -time.Second, 2 * time.Second},
		} {
			ctx, cancel := context.Background(), context.CancelFunc(func() {})
			if tt.left != 0 {
				ctx, cancel = context.WithTimeout(ctx, tt.left)
			}
			before, endBefore := audit.BeforeRecording(ctx)
			record, endRecord := audit.Recording(ctx)
			if got := leftOf(before); got != tt.before {
				t.Errorf("%s: %v to act, want %v", name, got, tt.before)
			}
			if got := leftOf(record); got != tt.record {
				t.Errorf("%s: %v to record, want %v", name, got, tt.record)
			}
			cancel()
			if tt.left != 0 && before.Err() == nil || record.Err() != nil {
				t.Errorf("%s: once the caller has gone, acting ends with %v and recording with %v", name, before.Err(), record.Err())
			}
			endBefore()
			endRecord()
		}
	})
}

func leftOf(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return time.Until(deadline)
}
