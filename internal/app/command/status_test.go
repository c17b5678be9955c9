package command

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/ingest"
	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/doctor"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/test/testkit"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

// stages are those of the product.
var stages = pipeline.List{ingest.Stage, router.Stage, webhooksink.Stage}

func process(t *testing.T, env map[string]string) settings.Process {
	t.Helper()
	cfg, err := settings.Load(env, stages)
	if err != nil {
		t.Fatal(err)
	}
	return settings.Process{Config: cfg, Log: slog.New(slog.DiscardHandler), Environment: env}
}

const testWorkspace = `sources: [{id: web, name: Web, writeKey: wk_web}]
destinations:
  - {id: crm, type: webhooks, name: CRM, sources: [web], sharedSecret: canary-secret, endpoints: [{url: "http://user:canary-password@127.0.0.1:9/hook?canary-token"}]}
`

// What the commands are made of meets: settings, brokers, the workspace on them.
func TestStatusAndDoctorOfACluster(t *testing.T) {
	t.Parallel()
	env := map[string]string{"KAFKA_BROKERS": strings.Join(testkit.Brokers(t).Addrs, ","), "INGEST_ADR": "x", "WEBHOOK_SINK_ALLOW_NETWORKS": "127.0.0.0/8"}
	proc := process(t, env)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	if err := os.WriteFile(file, []byte(testWorkspace), 0o600); err != nil {
		t.Fatal(err)
	}
	var out testkit.Logs
	proc.Out = &out
	if err := Apply(t.Context(), proc, file, Applying{}); err != nil {
		t.Fatal(err)
	}
	report, err := gatherStatus(t.Context(), proc, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Destinations) != 1 || report.Destinations[0].ID != "crm" || report.Stages[0].Group != "anabranch-router" {
		t.Errorf("report %+v", report)
	}
	found, err := examine(t.Context(), proc, stages.Make().Roles())
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[doctor.Check]string)
	for _, f := range found.Findings {
		said[f.Check] += string(f.Level) + " " + f.About + " " + f.Found + "\n"
	}
	for check, want := range map[doctor.Check]string{
		doctor.CheckBrokers:     "ok ",
		doctor.CheckPermissions: "ok ",
		doctor.CheckSettings:    "warning INGEST_ADR",
		doctor.CheckTopics:      "ok  14 topics exist", // apply has created them
		doctor.CheckWorkspace:   "the hosts of 1 endpoints resolve",
		doctor.CheckGroups:      "no webhook-sink runs",
	} {
		if !strings.Contains(said[check], want) {
			t.Errorf("%s: %q, want %q in it", check, said[check], want)
		}
	}
	if _, data := said[doctor.CheckData]; data {
		t.Error("the directory of the embedded broker was looked at")
	}
}

func TestStatusWithoutBrokers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := gatherStatus(ctx, process(t, map[string]string{"KAFKA_BROKERS": "127.0.0.1:1"}), time.Hour)
	if err == nil || !strings.Contains(err.Error(), "reach brokers 127.0.0.1:1") || !strings.Contains(err.Error(), "KAFKA_BROKERS") {
		t.Errorf("status without brokers: %v", err)
	}
}

// Whatever else is wrong, a problem is an error, and so the exit code 1.
func TestDoctorFindsThatNoBrokerRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	found, err := examine(t.Context(), process(t, map[string]string{"BROKER_ADDR": "127.0.0.1:1", "DATA_DIR": dir}), stages.Make().Roles())
	if err != nil || found.Problems == 0 { // the machine may have more
		t.Fatalf("found %+v, error %v", found, err)
	}
	for _, f := range found.Findings {
		switch f.Check {
		case doctor.CheckBrokers:
			if f.Level != doctor.Problem || !strings.Contains(f.Do, "BROKER_ADDR") {
				t.Errorf("brokers: %+v", f)
			}
		case doctor.CheckData:
			if f.Level == doctor.Problem || !strings.Contains(f.About+f.Found, dir) {
				t.Errorf("data: %+v", f)
			}
		default:
		}
	}
	if left, readErr := os.ReadDir(dir); readErr != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, readErr)
	}
}

func TestTheReceiverOfRunIsPermitted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want int
	}{
		"the example":       {map[string]string{"KAFKA_BROKERS": ""}, 1},
		"a workspace":       {map[string]string{"WORKSPACE_FILE": "w.yaml"}, 0},
		"brokers elsewhere": {map[string]string{"KAFKA_BROKERS": "a:9092"}, 0},
		"by name":           {map[string]string{"KAFKA_BROKERS": "", "RECEIVER_ADDR": "localhost:8082"}, 0},
	} {
		proc := process(t, c.env)
		if got := receivers(&proc.Config); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestHowLargeTheLogGets(t *testing.T) {
	t.Parallel()
	proc := process(t, map[string]string{"TOPIC_PARTITIONS": "4"})
	usual := logBytes(&proc.Config)
	proc = process(t, map[string]string{"TOPIC_PARTITIONS": "4", "RAW_EVENTS_RETENTION_BYTES": "1000"})
	if got := usual - logBytes(&proc.Config); got != 4*(128<<20-1000) {
		t.Errorf("a bound on raw-events makes a difference of %d bytes", got)
	}
}

// Each command says what it is for, in its own words.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	var all []Command
	for _, c := range All(stages) {
		all = append(all, c)
		for _, b := range c.Below {
			b.Name = c.Name + " " + b.Name
			all = append(all, b)
		}
	}
	for i := range all {
		c := &all[i]
		out, err := typed(t, strings.Fields(c.Name+" -h")...)
		usage := "Usage: anabranch " + c.Name + " "
		if len(c.Below) > 0 {
			usage = "Usage of " + c.Name + ":\n\n  anabranch " + c.Name + " "
		}
		if err != nil || !strings.HasPrefix(out, usage) || len(c.Below) == 0 && !strings.Contains(out, "\nFlags:\n  --") {
			t.Errorf("%s -h: %v, printed\n%s", c.Name, err, out)
		}
		for line := range strings.Lines(out) {
			if len(line) > 130 {
				t.Errorf("%s -h: a line of %d characters: %s", c.Name, len(line), line)
			}
		}
	}
}
