package write

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tracker"
)

type triggerAutopilotIn struct {
	AutopilotID tracker.AutopilotRef `json:"autopilot_id" jsonschema:"The autopilot: id or exact title."`
}

// TriggerAutopilot starts a run of an autopilot by hand.
var TriggerAutopilot = tool.Write(tool.Spec{
	Name: "trigger_autopilot", Title: "Trigger autopilot", Scope: identity.AutopilotRun,
	Doc: `Starts one run of an autopilot now, outside its schedule. Use it only when the user asks for that run. You must have made the autopilot, or be an administrator; a paused or archived one is refused.

Returns the run, outcome and message. started: its agent has a task, on a new issue or without one, depending on the autopilot. skipped or failed: the run is on record and nothing ran; message says why. Another run within 60 seconds of one that started is skipped. It does not wait for the agent to finish. Each call starts another run: to be safe when you repeat a call after an error, give an idempotency_key and repeat it unchanged.`,
}, triggerAutopilot)

func triggerAutopilot(ctx context.Context, s tracker.Store, in triggerAutopilotIn) (tracker.TriggeredRun, error) {
	return s.TriggerAutopilot(ctx, tracker.AutopilotTrigger{Autopilot: in.AutopilotID})
}
