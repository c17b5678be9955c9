package pipeline

import (
	"fmt"
	"strings"
)

// Secret is what all deliveries are signed with.
const Secret = "sdk-test-secret"

// webhooks is how many destinations listen to each source.
const webhooks = 2

// WriteKey is that of a source.
func WriteKey(source string) string { return "wk_" + source }

// Destinations are those that listen to a source.
func Destinations(source string) []string {
	names := make([]string, webhooks)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", source, i+1)
	}
	return names
}

// workspaceFile returns the text of the file: each destination delivers to the path
// of its name below receiver, a base URL.
func workspaceFile(sources []string, receiver string) string {
	var text strings.Builder
	text.WriteString("sources:\n")
	for _, s := range sources {
		fmt.Fprintf(&text, "  - {id: %s, name: %s, writeKey: %s}\n", s, s, WriteKey(s))
	}
	text.WriteString("destinations:\n")
	for _, s := range sources {
		for _, d := range Destinations(s) {
			fmt.Fprintf(&text, "  - {id: %s, type: webhooks, name: %s, sources: [%s], sharedSecret: %s, endpoints: [{url: \"%s/%s\"}]}\n",
				d, d, s, Secret, receiver, d)
		}
	}
	return text.String()
}
