package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/doctor"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestANewStage: one that is declared, and stands in the list, runs in the composition
// of `run`, with settings and readiness of its own, and help, permissions, status and
// doctor know it. It sets the environment, as a shell does.
func TestANewStage(t *testing.T) {
	var broken atomic.Bool
	list := append(Stages(), tallyStage(func() error {
		if broken.Load() {
			return errors.New("lost count")
		}
		return nil
	}))
	env := with(environment(t), "TALLY_STEP", "3")
	r := startStages(t, env, list)
	setShell(t, env, r)
	if code := r.post(t, "/v1/track", workspace.ExampleWriteKey, `{"userId":"u","event":"Signed Up"}`); code != http.StatusOK {
		t.Fatalf("the call was answered %d", code)
	}
	testkit.Until(t, func() bool {
		n := r.count(t, "anabranch_tally_events_total") // a group that rebalances reads a call again
		return n > 0 && n%3 == 0
	}, "the call to be counted by the setting")

	broken.Store(true)
	if got := r.get(t, "/readyz"); !strings.Contains(got, "tally: lost count") {
		t.Errorf("/readyz says %q while the stage is not ready", got)
	}
	broken.Store(false)

	var report status.Report
	testkit.Until(t, func() bool {
		if report = (status.Report{}); !answered(t, list, &report, "status", "--json") {
			return false
		}
		s := report.Stages[len(report.Stages)-1]
		return s.State == "Stable" && s.Unread[0].Waiting.Events == 0 && report.Unrouted.Events == 0
	}, "status to see that the stages have read all")
	if s := report.Stages[len(report.Stages)-1]; s.Name != "tally" || s.Group != tallyGroup || len(s.Members) != 1 || s.Unread[0].Topic != schemas.TopicRawEvents {
		t.Errorf("status knows of the stage: %+v", s)
	}
	testkit.Until(t, func() bool {
		var found doctor.Diagnosis
		return answered(t, list, &found, "doctor", "--json", "--stage", "tally") && slices.ContainsFunc(found.Findings, func(f doctor.Finding) bool {
			return f.Check == doctor.CheckGroups && f.About == tallyGroup && f.Level == doctor.OK
		})
	}, "doctor to find the group of the stage at work")
}

// answered reads the JSON that a command prints, false when it printed none: what has a
// time to answer in may not make it on a busy machine.
func answered(t *testing.T, list pipeline.List, into any, args ...string) bool {
	t.Helper()
	out, _ := typedOf(t, list, args...) // doctor fails of what is wrong with the machine
	return json.Unmarshal([]byte(out), into) == nil
}

// TestANewStageIsKnown by all that does not run.
func TestANewStageIsKnown(t *testing.T) {
	t.Parallel()
	list := append(Stages(), tallyStage(nil))
	for words, want := range map[string]string{
		"":       "anabranch ingest|router|personas|webhook-sink|archive|tally ",
		"tally":  "counts each call. Tallies share the partitions.\n\nIt needs KAFKA_BROKERS",
		"config": "TALLY_STEP ",
		"doctor": "ingest, router, personas, webhook-sink, archive, tally, status",
	} {
		if text, err := Help(list, strings.Fields(words)...); err != nil || !strings.Contains(text, want) {
			t.Errorf("help %s: %v, want %q in\n%s", words, err, want, text)
		}
	}
	for _, rule := range []string{"| topic | `raw-events` | Read | reads calls |", "--allow-principal User:tally --operation Read --group anabranch-tally\n"} {
		if text := acl.Markdown(Roles(list)); !strings.Contains(text, rule) {
			t.Errorf("%q is not among the permissions", rule)
		}
	}
	if got := list.Make().Readers(schemas.TopicRawEvents); !slices.Contains(got, tallyGroup) {
		t.Errorf("raw-events is kept until %v have read it", got)
	}
	if _, err := settings.Load(map[string]string{"TALLY_STEP": "0"}, list); err == nil || !strings.Contains(err.Error(), "TALLY_STEP=0: expected at least 1") {
		t.Errorf("a setting that can't work: %v", err)
	}
	cfg, err := settings.Load(nil, list)
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Unknown(map[string]string{"TALLY_STPE": "2"}); !maps.Equal(got, map[string]string{"TALLY_STPE": "TALLY_STEP"}) {
		t.Errorf("misspelt settings: %v", got)
	}
	if alone, err := stagesOf(cfg.Stages, "tally"); err != nil || !slices.Equal(alone.Fixed(), []string{schemas.TopicRawEvents}) {
		t.Errorf("by itself it creates %v (%v)", alone.Fixed(), err)
	}
}

// TestStagesAreWhole: nothing is left out of what a stage declares.
func TestStagesAreWhole(t *testing.T) {
	t.Parallel()
	for _, s := range append(Stages(), tallyStage(nil)).Make() {
		if missing := whole(s); missing != nil {
			t.Errorf("%s: %v", s.Name, missing)
		}
	}
}

// TestWhatIsLeftOutOfAStageIsFound: each step of CONTRIBUTING.md that is about the
// declaration.
func TestWhatIsLeftOutOfAStageIsFound(t *testing.T) {
	t.Parallel()
	for want, forget := range map[string]func(*pipeline.Stage){
		"no Name":                func(s *pipeline.Stage) { s.Name = "" },
		"no Does":                func(s *pipeline.Stage) { s.Does = "" },
		"no Help":                func(s *pipeline.Stage) { s.Help = "" },
		"no New":                 func(s *pipeline.Stage) { s.New = nil },
		"no Config":              func(s *pipeline.Stage) { s.Config = nil },
		"no Group":               func(s *pipeline.Stage) { s.Group = pipeline.Group{} },
		"no topic for its group": func(s *pipeline.Stage) { s.Topics[0].Consumed = pipeline.Verb{} },
		"no Forgotten":           func(s *pipeline.Stage) { s.Group.Forgotten = "" },
		"no Why of raw-events":   func(s *pipeline.Stage) { s.Topics[0].Why = "" },
		"not one of ours":        func(s *pipeline.Stage) { s.Group.Name = "tally" },
		"no such prefix":         func(s *pipeline.Stage) { s.Topics[0].Name = "calls." },
		"TALLY_STEP begins with": func(s *pipeline.Stage) { s.Name = "count" },
	} {
		s := tallyStage(nil)()
		forget(s)
		if missing := whole(s); missing == nil || !strings.Contains(missing.Error(), want) {
			t.Errorf("found %v, want %q", missing, want)
		}
	}
}

// whole reports what is left out of a stage.
func whole(s *pipeline.Stage) error {
	var faults []error
	need := func(ok bool, fault string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(fault, args...))
		}
	}
	need(s.Name != "", "no Name")
	need(s.Does != "", "no Does")
	need(s.Help != "", "no Help")
	need(s.New != nil, "no New")
	consumes := false
	for _, topic := range s.Topics {
		need(topic.Why != "", "no Why of %s", topic.Name)
		need(!topic.Prefixed() || slices.Contains([]string{schemas.DeliverPrefix, schemas.ArchivePrefix, schemas.RetryPrefix, schemas.ReplayPrefix}, topic.Name), "no such prefix: %s", topic.Name)
		consumes = consumes || topic.Consumed != (pipeline.Verb{})
	}
	if g := s.Group; g.Name != "" {
		need(consumes, "no topic for its group")
		need(g.Forgotten != "", "no Forgotten of the group")
	} else {
		need(!consumes, "no Group")
	}
	for _, id := range []string{s.Group.Name, s.Group.Copy.Group, s.Transactions.Prefix} {
		need(id == "" || strings.HasPrefix(id, schemas.OwnPrefix), "%s is not one of ours", id)
	}
	need(s.Config != nil, "no Config")
	if s.Config != nil {
		for f := range reflect.TypeOf(s.Config).Elem().Fields() {
			name := f.Tag.Get("env")
			need(strings.HasPrefix(name, s.Variables()), "no setting of the stage: %s begins with something else than %s", name, s.Variables())
		}
	}
	return errors.Join(faults...)
}

// TestLintKnowsTheStages: the rule about what stages may import is about each stage of
// the list, and about nothing else; and no rule lets somebody import one.
func TestLintKnowsTheStages(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct{ Files, Allow []string }
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	rules := config.Linters.Settings.Depguard.Rules
	files, own := []string{}, []string{}
	for _, s := range Stages() {
		path := packageOf(s)
		files = append(files, "${config-path}/"+strings.TrimPrefix(path, module)+"/**.go")
		own = append(own, path+"/internal/")
		for name, rule := range rules {
			if besides[name] {
				continue
			}
			if slices.Contains(rule.Allow, path) || slices.Contains(rule.Allow, path+"$") {
				t.Errorf("rule %s lets %s be imported", name, path)
			}
		}
	}
	stages := rules["floor-2-stages"]
	about := slices.DeleteFunc(slices.Clone(stages.Files), func(path string) bool {
		return slices.Contains([]string{"!${config-path}/personas/ask/**.go", "!${config-path}/ingest/imports/**.go", "!${config-path}/router/replay/**.go", "!${config-path}/webhook-sink/testsend/**.go"}, path)
	})
	if want := slices.Concat(files, []string{"!$test"}); !slices.Equal(about, want) {
		t.Errorf("floor-2-stages is about %v, want %v", stages.Files, want)
	}
	allowed := slices.DeleteFunc(slices.Clone(stages.Allow), func(path string) bool { return !strings.HasSuffix(path, "/internal/") })
	if !slices.Equal(allowed, own) {
		t.Errorf("floor-2-stages lets stages import %v, want %v", allowed, own)
	}
}

// besides are the rules of rooms beside a stage that import it: one answers what is asked
// of it, one uses its door.
var besides = map[string]bool{"floor-2-personas-ask": true, "floor-2-imports": true}

const module = "github.com/anabranch/anabranch/"

// packageOf is the import path of the package that declares a stage.
func packageOf(declare func() *pipeline.Stage) string {
	path, _, _ := strings.Cut(runtime.FuncForPC(reflect.ValueOf(declare).Pointer()).Name(), ".Stage")
	return path
}

// TestContributingNamesFiles: what CONTRIBUTING.md tells to change is there.
func TestContributingNamesFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile("`([a-zA-Z0-9_./-]+(?:\\.go|\\.md|\\.ya?ml|\\.json|/))`").FindAllStringSubmatch(string(text), -1)
	if len(files) < 10 {
		t.Errorf("CONTRIBUTING.md names %d files", len(files))
	}
	for _, m := range files {
		if m[1] == "doc.go" || strings.HasPrefix(m[1], "tally/") {
			continue // one of each package, and the example
		}
		if _, err := os.Stat("../../" + m[1]); err != nil {
			t.Errorf("CONTRIBUTING.md: %v", err)
		}
	}
}
