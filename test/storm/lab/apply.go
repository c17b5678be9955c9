package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/broker"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
)

// Apply puts the workspace in force.
func (l *Lab) Apply(ctx context.Context) error {
	publisher := wstopic.Publisher{Kafka: l.Kafka, Ensure: func(ctx context.Context, exports map[string]schemas.Export, names ...string) error {
		return l.topics.For(exports).Ensure(ctx, names...)
	}}
	_, err := publisher.Apply(ctx, l.snapshot())
	return err
}

func (l *Lab) snapshot() *workspace.Snapshot {
	source := workspace.Source{ID: Source, Name: "Storm", WriteKeyHash: workspace.HashWriteKey(WriteKey), Enabled: true}
	return workspace.NewSnapshot([]workspace.Source{source}, slices.Clone(l.workspace))
}

// ApplyBy has a binary put the workspace in force, from a file as its users would.
func (l *Lab) ApplyBy(ctx context.Context, binary string) error {
	file := filepath.Join(l.Dir, "workspace.yaml")
	if err := os.WriteFile(file, []byte(l.workspaceFile()), 0o600); err != nil {
		return err
	}
	apply := exec.CommandContext(ctx, binary, "apply", "-f", file) //nolint:gosec // the binary under test
	apply.Env = append(os.Environ(), l.settings()...)
	if out, err := apply.CombinedOutput(); err != nil {
		return fmt.Errorf("%s apply: %w: %s", binary, err, out)
	}
	return nil
}

// Define puts audiences and computed traits in force beside the rest of the workspace, by
// the product's own command: sections of a workspace file.
func (l *Lab) Define(ctx context.Context, sections string) error {
	l.definitions = sections
	return l.ApplyBy(ctx, l.bench.Binary)
}

// workspaceFile is the workspace as a file. Destinations have one endpoint each, or
// several without settings of their own.
func (l *Lab) workspaceFile() string {
	var text strings.Builder
	fmt.Fprintf(&text, "sources:\n  - id: %s\n    name: Storm\n    writeKey: %s\ndestinations:\n", Source, WriteKey)
	if len(l.workspace) == 0 {
		text.WriteString("  []\n")
	}
	for i := range l.workspace {
		d := &l.workspace[i]
		fmt.Fprintf(&text, "  - id: %s\n    type: webhooks\n    name: %s\n    sources: [%s]\n    endpoints:\n", d.ID, d.Name, strings.Join(d.Sources, ", "))
		for _, e := range d.Endpoints {
			fmt.Fprintf(&text, "      - url: %s\n", e.URL)
		}
	}
	text.WriteString(l.definitions)
	return text.String()
}

// settings are those of every process of the product.
func (l *Lab) settings() []string {
	own := slices.Clone(l.counts)
	if l.password != "" {
		own = append(own, "KAFKA_SASL_MECHANISM="+broker.Mechanism, "KAFKA_USERNAME="+broker.User, "KAFKA_PASSWORD="+l.password.Reveal())
	}
	return append([]string{
		"KAFKA_BROKERS=" + l.Brokers, "WEBHOOK_SINK_ALLOW_NETWORKS=127.0.0.0/8", "WEBHOOK_SINK_RETRY_DELAYS=" + retryDelays,
	}, own...)
}
