package deploy

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/app"
	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

// stopBound is how long a stop may take, of cmd/anabranch.
const stopBound = 8

// environment returns what a container's process finds in its environment.
func environment(t *testing.T, all []manifest, c *container) map[string]string {
	t.Helper()
	env := make(map[string]string)
	for _, from := range c.EnvFrom {
		if from.ConfigMap.Name != "" {
			maps.Copy(env, named(t, all, "ConfigMap", from.ConfigMap.Name).Data)
		}
		if from.Secret.Name != "" {
			maps.Copy(env, named(t, all, "Secret", from.Secret.Name).StringData)
		}
	}
	for _, e := range c.Env {
		env[e.Name] = e.Value
		if e.ValueFrom.FieldRef.Path != "" {
			env[e.Name] = "pod-0"
		}
	}
	return env
}

// TestSettingsAreValid: what a process would refuse at its start is found here.
func TestSettingsAreValid(t *testing.T) {
	t.Parallel()
	var reference bytes.Buffer
	if err := settings.WriteReference(&reference, app.Stages()); err != nil {
		t.Fatal(err)
	}
	all := manifests(t)
	secrets := named(t, all, "Secret", "anabranch-workspace").StringData
	for _, w := range workloads(all) {
		env := environment(t, all, &w.Spec.Template.Spec.All[0])
		if _, err := settings.Load(env, app.Stages()); err != nil {
			t.Errorf("%s: %v", w.Metadata.Name, err)
		}
		for name := range env {
			_, workspace := secrets[name]
			if !workspace && name != "GOMEMLIMIT" && !strings.Contains(reference.String(), "\n"+name+" ") {
				t.Errorf("%s: %s is no setting", w.Metadata.Name, name)
			}
		}
	}
}

// TestSecretsAreNotShared: each workload has a Secret of its own at the brokers, and no other's.
func TestSecretsAreNotShared(t *testing.T) {
	t.Parallel()
	all := manifests(t)
	users := make(map[string]string)
	for _, w := range workloads(all) {
		name := w.Metadata.Name + w.Metadata.GenerateName
		env := environment(t, all, &w.Spec.Template.Spec.All[0])
		user := env["KAFKA_USERNAME"]
		if other := users[user]; user == "" || other != "" {
			t.Errorf("%s is %q at the brokers, and so is %q", name, user, other)
		}
		users[user] = name
		if _, has := env["ADMIN_TOKEN"]; has != (name == "ingest") {
			t.Errorf("%s has ADMIN_TOKEN: %t", name, has)
		}
		if _, has := env["SECRETS_KEY"]; has != slices.Contains([]string{"webhook-sink", "archive", "apply"}, user) {
			t.Errorf("%s has SECRETS_KEY: %t", name, has)
		}
	}
}

// TestStagesAreTargets: the argument of each container is a stage of the program,
// and each stage has one.
func TestStagesAreTargets(t *testing.T) {
	t.Parallel()
	var run []string
	for _, w := range of(manifests(t), "Deployment", "StatefulSet") {
		run = append(run, w.Spec.Template.Spec.All[0].Args...)
	}
	want := app.Stages().Make().Names()
	slices.Sort(run)
	slices.Sort(want)
	if !slices.Equal(run, want) {
		t.Errorf("the manifests run %q, the stages are %q", run, want)
	}
}

// TestComposeKeepsTheKey from all services but those that need it.
func TestComposeKeepsTheKey(t *testing.T) {
	t.Parallel()
	var compose struct {
		Services map[string]struct{ Environment map[string]any }
	}
	text, err := os.ReadFile("../docker-compose.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &compose)
	}
	if err != nil {
		t.Fatal(err)
	}
	var with []string
	for name, service := range compose.Services {
		if _, has := service.Environment["SECRETS_KEY"]; has {
			with = append(with, name)
		}
	}
	slices.Sort(with)
	if !slices.Equal(with, []string{"archive", "webhook-sink", "workspace"}) {
		t.Errorf("%v have SECRETS_KEY", with)
	}
}

// TestComposeRunsEachStage, and Prometheus beside it looks each of them up.
func TestComposeRunsEachStage(t *testing.T) {
	t.Parallel()
	var compose struct {
		Services map[string]struct{ Command []string }
	}
	var prometheus struct {
		Scrapes []struct {
			DNS []struct{ Names []string } `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}
	for file, into := range map[string]any{"../docker-compose.yml": &compose, "prometheus/prometheus.yml": &prometheus} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	for _, name := range app.Stages().Make().Names() {
		if !slices.Equal(compose.Services[name].Command, []string{name}) {
			t.Errorf("docker-compose.yml has no service that runs %s", name)
		}
		if len(prometheus.Scrapes) == 0 || !slices.Contains(prometheus.Scrapes[0].DNS[0].Names, name) {
			t.Errorf("prometheus.yml does not look for %s", name)
		}
	}
}

// TestNamesThatStayAreKept: a member of a group that keeps its name is no rebalance
// when it restarts, and ends its own transactions. Where names change, none is given.
func TestNamesThatStayAreKept(t *testing.T) {
	t.Parallel()
	for _, w := range of(manifests(t), "Deployment", "StatefulSet") {
		var path string
		for _, e := range w.Spec.Template.Spec.All[0].Env {
			if e.Name == "INSTANCE_ID" {
				path = e.ValueFrom.FieldRef.Path
			}
		}
		if want := map[string]string{"StatefulSet": "metadata.name"}[w.Kind]; path != want {
			t.Errorf("%s %s: INSTANCE_ID is %q, want %q", w.Kind, w.Metadata.Name, path, want)
		}
	}
}

// TestPodsAreConfined as far as the standard "restricted" asks, and to a root file
// system that is not written.
func TestPodsAreConfined(t *testing.T) {
	t.Parallel()
	for _, w := range workloads(manifests(t)) {
		p := w.Spec.Template.Spec
		if p.Token == nil || *p.Token || !p.Context.NonRoot || p.Context.User != 65532 || p.Context.Seccomp.Type != "RuntimeDefault" {
			t.Errorf("%s%s: its pod is not confined: %+v", w.Metadata.Name, w.Metadata.GenerateName, p.Context)
		}
		for _, c := range p.All {
			if s := c.Context; s.Escalation == nil || *s.Escalation || !s.ReadOnly || !slices.Equal(s.Caps.Drop, []string{"ALL"}) {
				t.Errorf("container %s is not confined: %+v", c.Name, s)
			}
		}
	}
}

// TestProbesAskWhatTheyShould: brokers that are away must not restart anything, and
// must not take ingest from its Service.
func TestProbesAskWhatTheyShould(t *testing.T) {
	t.Parallel()
	for _, w := range of(manifests(t), "Deployment", "StatefulSet") {
		c := w.Spec.Template.Spec.All[0]
		want := [3]string{"", "/readyz", "/healthz"}
		if w.Metadata.Name == "ingest" {
			want = [3]string{"/readyz", "/healthz", "/healthz"}
		}
		if got := [3]string{c.Startup.Get.Path, c.Readiness.Get.Path, c.Liveness.Get.Path}; got != want {
			t.Errorf("%s: startup, readiness and liveness ask %q, want %q", w.Metadata.Name, got, want)
		}
		const day = 24 * 60 * 60
		if lasts := c.Startup.Period * c.Startup.Failures; c.Startup.Get.Path == "/readyz" && lasts < day {
			t.Errorf("%s is restarted when the brokers are away for its first %d s", w.Metadata.Name, lasts)
		}
		for _, p := range []probe{c.Startup, c.Readiness, c.Liveness} {
			if p.Get.Path != "" && !c.hasPort(p.Get.Port) {
				t.Errorf("%s: a probe asks port %q", w.Metadata.Name, p.Get.Port)
			}
		}
	}
}

// TestStopsHaveTheirTime: the waiting before a stop counts too.
func TestStopsHaveTheirTime(t *testing.T) {
	t.Parallel()
	for _, w := range of(manifests(t), "Deployment", "StatefulSet") {
		p := w.Spec.Template.Spec
		wait := p.All[0].Lifecycle.PreStop.Sleep.Seconds
		if w.Metadata.Name == "ingest" && wait < 5 {
			t.Errorf("ingest stops %d s after its pod, before everybody knows", wait)
		}
		if p.Grace <= wait+stopBound {
			t.Errorf("%s is killed after %d s, and may need %d", w.Metadata.Name, p.Grace, wait+stopBound)
		}
	}
}

// TestMemoryIsBounded: the garbage collector has to hear of the limit before the
// kernel does.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	all := manifests(t)
	for _, w := range of(all, "Deployment", "StatefulSet") {
		c := w.Spec.Template.Spec.All[0]
		soft := mebibytes(t, strings.TrimSuffix(environment(t, all, &c)["GOMEMLIMIT"], "B"))
		hard := mebibytes(t, c.Resources.Limits.Memory)
		if soft < hard*8/10 || soft > hard*9/10 {
			t.Errorf("%s: GOMEMLIMIT is %d MiB of %d", w.Metadata.Name, soft, hard)
		}
		if c.Resources.Requests.CPU == "" || c.Resources.Requests.Memory == "" || c.Resources.Limits.CPU != "" {
			t.Errorf("%s: resources %+v", w.Metadata.Name, c.Resources)
		}
	}
}

func mebibytes(t *testing.T, quantity string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSuffix(quantity, "Mi"))
	if err != nil {
		t.Fatalf("%q is no number of MiB", quantity)
	}
	return n
}

// TestTheWorkspaceIsOne: the example can be applied as it is, with the secrets of its
// Secret.
func TestTheWorkspaceIsOne(t *testing.T) {
	t.Parallel()
	all := manifests(t)
	job := of(all, "Job")[0]
	config := named(t, all, "ConfigMap", job.Spec.Template.Spec.Volumes[0].ConfigMap.Name)
	env := environment(t, all, &job.Spec.Template.Spec.All[0])
	lookup := wsfile.Lookup{
		Env:  func(name string) (string, bool) { value, set := env[name]; return value, set },
		File: os.ReadFile,
	}
	snapshot, err := wsfile.Parse("workspace.yaml", []byte(config.Data["workspace.yaml"]), lookup)
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshot.Destinations()) == 0 {
		t.Error("the workspace has no destination")
	}
}
