package securitytest

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/kafka/acl"
)

// verdict is a line of the authorizer's log.
type verdict struct {
	principal string
	allowed   bool
	operation string // as in READ
	resource  string // as in TOPIC
	name      string // of the resource, or of the rule where one allowed it
	prefixed  bool   // of the rule
	request   string
}

var (
	decided = regexp.MustCompile(`Principal = (\S+) is (Allowed|Denied) [oO]peration = (\w+) from host = \S+ on resource = (\w+):LITERAL:(\S+) for request = (\w+)`)
	matched = regexp.MustCompile(`resourceName=([^,]+), patternType=(\w+), principal=[^,]+(?:,[^=]+)?, host=[^,]+, operation=(\w+)`)
)

// logged is how long the broker's log is.
func (n *node) logged(t *testing.T) int64 {
	t.Helper()
	file, err := os.Stat(n.logFile())
	if err != nil {
		t.Fatal(err)
	}
	return file.Size()
}

// verdicts returns what the authorizer has decided about a principal since its log
// was as long as since.
func (n *node) verdicts(t *testing.T, principal string, since int64) []verdict {
	t.Helper()
	file, err := os.Open(n.logFile())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(since, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	var all []verdict
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := decided.FindStringSubmatch(lines.Text())
		if m == nil || m[1] != principal {
			continue
		}
		v := verdict{principal: m[1], allowed: m[2] == "Allowed", operation: m[3], resource: m[4], name: m[5], request: m[6]}
		if r := matched.FindStringSubmatch(lines.Text()); r != nil {
			v.name, v.prefixed, v.operation = r[1], r[2] == "PREFIXED", r[3]
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// concerns reports whether the verdict came of a rule. One about Describe is of the
// rule that allows more than that.
func (v verdict) concerns(r acl.Rule) bool {
	return v.allowed && v.name == r.Name && v.prefixed == r.Prefixed &&
		flat(v.resource) == flat(r.Resource.String()) && flat(v.operation) == flat(r.Operation.String())
}

// flat makes the broker's names and the library's comparable: DESCRIBE_CONFIGS.
func flat(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
