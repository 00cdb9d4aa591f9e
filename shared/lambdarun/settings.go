package lambdarun

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/audit"
	"github.com/aacworkflow/mcp-connector/shared/identity/signin"
	"github.com/aacworkflow/mcp-connector/shared/monitor"
)

// settings are all that the environment says to a program, read once, at its start. The AWS SDK
// reads its own variables besides (region, credentials, endpoints).
type settings struct {
	dataTable     string            // AAC_DATA_TABLE: the name of the data table
	auditTable    string            // AAC_AUDIT_TABLE: the name of the audit table
	signIn        signin.Config     // AAC_PUBLIC_BASE_URL, and those of signin.go
	toolFunctions map[string]string // AAC_TOOL_FUNCTIONS: tool=function, separated by commas
	origins       []string          // AAC_ALLOWED_ORIGINS: pages that may call /mcp, separated by commas; none by default
	retention     time.Duration     // AAC_AUDIT_RETENTION_DAYS: 1 to 3650; 400 by default
	findingsTopic string            // AAC_FINDINGS_TOPIC: the ARN of the SNS topic of the monitor's findings; none by default
	namespace     string            // AAC_METRIC_NAMESPACE: of the monitor's metrics in CloudWatch; monitor.Namespace by default
	version       string            // AAC_VERSION: of the connector; "dev" by default
}

// The settings that a program may need. The others have defaults.
const (
	envDataTable     = "AAC_DATA_TABLE"
	envAuditTable    = "AAC_AUDIT_TABLE"
	envPublicBaseURL = "AAC_PUBLIC_BASE_URL"
	ToolFunctions    = "AAC_TOOL_FUNCTIONS"
	envOrigins       = "AAC_ALLOWED_ORIGINS"
	envRetention     = "AAC_AUDIT_RETENTION_DAYS"
	envFindingsTopic = "AAC_FINDINGS_TOPIC"
	envNamespace     = "AAC_METRIC_NAMESPACE"
	envVersion       = "AAC_VERSION"
)

const maxRetentionDays = 3650

// readSettings reads the environment. Its error names everything that is missing or malformed,
// so that one look at the log is enough.
func readSettings(getenv func(string) string, needed ...string) (settings, error) {
	var problems []error
	var missing []string
	for _, name := range needed {
		if getenv(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		problems = append(problems, fmt.Errorf("%s missing", strings.Join(missing, ", ")))
	}
	s := settings{
		dataTable: getenv(envDataTable), auditTable: getenv(envAuditTable), version: getenv(envVersion),
		origins: words(getenv(envOrigins)), retention: audit.DefaultRetention, findingsTopic: getenv(envFindingsTopic),
		namespace: getenv(envNamespace),
	}
	if s.findingsTopic != "" && !strings.HasPrefix(s.findingsTopic, "arn:") {
		problems = append(problems, fmt.Errorf("%s must be the ARN of an SNS topic", envFindingsTopic))
	}
	if s.namespace != "" && !monitor.ValidNamespace(s.namespace) {
		problems = append(problems, fmt.Errorf("%s must be a namespace of CloudWatch: at most 255 letters, digits and signs of . - _ / # :, not beginning with AWS/ or a colon", envNamespace))
	}
	if s.version == "" {
		s.version = "dev"
	}
	var err error
	if s.signIn, err = readSignIn(getenv); err != nil {
		problems = append(problems, err)
	}
	if s.toolFunctions, err = pairs(getenv(ToolFunctions)); err != nil {
		problems = append(problems, fmt.Errorf("%s %w", ToolFunctions, err))
	}
	if days := getenv(envRetention); days != "" {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > maxRetentionDays {
			problems = append(problems, fmt.Errorf("%s must be a number of days from 1 to %d", envRetention, maxRetentionDays))
		}
		s.retention = time.Duration(n) * 24 * time.Hour
	}
	if len(problems) > 0 {
		return settings{}, fmt.Errorf("correct the function's environment: %w", errors.Join(problems...))
	}
	return s, nil
}

func words(list string) []string {
	var all []string
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

func pairs(list string) (map[string]string, error) {
	all := map[string]string{}
	for _, pair := range words(list) {
		tool, function, ok := strings.Cut(pair, "=")
		if !ok || tool == "" || function == "" {
			return nil, errors.New("must be like list_issues=name-of-its-function, separated by commas")
		}
		if _, twice := all[tool]; twice {
			return nil, errors.New("names a tool twice")
		}
		all[tool] = function
	}
	return all, nil
}
