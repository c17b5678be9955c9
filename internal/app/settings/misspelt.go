package settings

import (
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
)

// mostEdits is how many letters a misspelt name may differ by from the one that is
// meant, and shortest how long a name has to be for that to say anything.
const (
	mostEdits = 2
	shortest  = 8
)

// Unknown returns the variables of the environment that look like settings of
// ours and are not, each with the setting that is nearest to it, empty where none is
// near: a typing error in a name would otherwise go unnoticed.
func (c *Config) Unknown(environment map[string]string) map[string]string {
	known := c.names()
	unknown := make(map[string]string)
	for name := range environment {
		if slices.Contains(known, name) {
			continue
		}
		if near := nearest(name, known); near != "" || c.looksOurs(name) {
			unknown[name] = near
		}
	}
	return unknown
}

// names lists all names that settings go by.
func (c *Config) names() []string {
	var names []string
	for _, v := range c.variables() {
		names = append(names, v.name)
		if v.secret() {
			names = append(names, v.name+fileSuffix)
		}
	}
	return names
}

// nearest returns the name that differs least; empty when none is near.
func nearest(name string, known []string) string {
	if len(name) < shortest {
		return ""
	}
	near, least := "", mostEdits+1
	for _, other := range known {
		if edits := terminal.Edits(name, other, mostEdits); edits < least && len(other) >= shortest {
			near, least = other, edits
		}
	}
	return near
}

func (c *Config) looksOurs(name string) bool {
	prefixes := []string{"ADMIN_", "CONSOLE_", "DELIVER_", "KAFKA_SASL_", "KAFKA_TLS_", "METRICS_", "RAW_EVENTS_", "RETRY_TOPIC_", "TOPIC_"}
	for _, prefix := range slices.Concat(prefixes, c.Stages.Variables()) {
		if rest, ours := strings.CutPrefix(name, prefix); ours {
			return !serviceLink(rest)
		}
	}
	return false
}

// serviceLink tells by the end of a name whether Kubernetes has set it: a container
// beside a Service called ingest has INGEST_SERVICE_HOST, INGEST_PORT,
// INGEST_PORT_8080_TCP and more of the kind.
func serviceLink(rest string) bool {
	return rest == "PORT" || strings.HasPrefix(rest, "PORT_") || strings.HasPrefix(rest, "SERVICE_HOST") || strings.HasPrefix(rest, "SERVICE_PORT")
}
