package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSelectorsSelect: an object that selects nothing, or another's pods, is valid,
// and does nothing.
func TestSelectorsSelect(t *testing.T) {
	t.Parallel()
	all := manifests(t)
	for _, m := range of(all, "Deployment", "StatefulSet", "Service", "PodDisruptionBudget") {
		found := selected(all, m.Spec.Selector)
		if len(found) != 1 || found[0].Metadata.Name != m.Metadata.Name {
			t.Errorf("%s %s selects the pods of %d workloads, want those of its namesake", m.Kind, m.Metadata.Name, len(found))
		}
	}
	for _, m := range of(all, "NetworkPolicy") {
		want := 1
		if m.Metadata.Name == "anabranch" {
			want = len(workloads(all))
		}
		if got := len(selected(all, m.Spec.PodSelector)); got != want {
			t.Errorf("NetworkPolicy %s selects the pods of %d workloads, want %d", m.Metadata.Name, got, want)
		}
	}
	for _, w := range workloads(all) {
		for _, s := range w.Spec.Template.Spec.Spread {
			if !s.Selector.match(w.Spec.Template.Metadata.Labels) {
				t.Errorf("%s is spread by pods that are not its own", w.Metadata.Name)
			}
		}
	}
}

func TestEveryStageHasWhatItNeeds(t *testing.T) {
	t.Parallel()
	all := manifests(t)
	for _, w := range of(all, "Deployment", "StatefulSet") {
		kinds := []string{"PodDisruptionBudget", "HorizontalPodAutoscaler"}
		if w.Metadata.Name != "archive" { // nobody sends it anything, and its pods have no names to keep
			kinds = append(kinds, "Service")
		}
		for _, kind := range kinds {
			named(t, all, kind, w.Metadata.Name)
		}
		if w.Kind == "StatefulSet" && w.Spec.ServiceName != w.Metadata.Name {
			t.Errorf("%s belongs to the Service %q", w.Metadata.Name, w.Spec.ServiceName)
		}
	}
	if n := len(of(all, "Deployment", "StatefulSet")); n != 5 {
		t.Errorf("%d stages, want 5", n)
	}
}

func TestPortsAreNamedAsTheyAreCalled(t *testing.T) {
	t.Parallel()
	all := manifests(t)
	has := func(what string, labels selectors, port string) {
		for _, w := range selected(all, labels) {
			if w.Kind != "Job" && !w.Spec.Template.Spec.All[0].hasPort(port) {
				t.Errorf("%s: %s has no port %q", what, w.Metadata.Name, port)
			}
		}
	}
	for _, m := range all {
		for _, p := range m.Spec.Ports {
			has("Service "+m.Metadata.Name, m.Spec.Selector, p.TargetPort)
		}
		for _, rule := range m.Spec.Ingress {
			for _, p := range rule.Ports {
				has("NetworkPolicy "+m.Metadata.Name, m.Spec.PodSelector, p.Port)
			}
		}
	}
	var monitor struct {
		Spec struct {
			Selector  selectors
			Endpoints []struct{ Port string } `yaml:"podMetricsEndpoints"`
		}
	}
	load(t, "kubernetes/monitoring/podmonitor.yaml", &monitor)
	if len(selected(all, monitor.Spec.Selector)) == 0 || len(monitor.Spec.Endpoints) != 1 {
		t.Error("the PodMonitor monitors nothing")
	}
	for _, e := range monitor.Spec.Endpoints {
		has("PodMonitor", monitor.Spec.Selector, e.Port)
	}
}

// TestAutoscalersStayWithinThePartitions: one instance more than there are partitions
// has nothing to do.
func TestAutoscalersStayWithinThePartitions(t *testing.T) {
	t.Parallel()
	all := manifests(t)
	settings := named(t, all, "ConfigMap", "anabranch").Data
	for _, h := range of(all, "HorizontalPodAutoscaler") {
		target := named(t, all, h.Spec.ScaleTargetRef.Kind, h.Spec.ScaleTargetRef.Name)
		if target.Metadata.Name != h.Metadata.Name || h.Spec.MinReplicas < 2 {
			t.Errorf("%s scales %s, from %d up", h.Metadata.Name, target.Metadata.Name, h.Spec.MinReplicas)
		}
		for _, setting := range []string{"TOPIC_PARTITIONS", "DELIVER_TOPIC_PARTITIONS"} {
			partitions, err := strconv.Atoi(settings[setting])
			if err != nil {
				t.Fatalf("%s=%q", setting, settings[setting])
			}
			if target.Kind == "StatefulSet" && h.Spec.MaxReplicas > partitions {
				t.Errorf("%s may grow to %d instances, %s is %d", h.Metadata.Name, h.Spec.MaxReplicas, setting, partitions)
			}
		}
	}
}

// TestAutoscalersHaveTheirMetrics: prometheus-adapter makes each, of one that the
// product has.
func TestAutoscalersHaveTheirMetrics(t *testing.T) {
	t.Parallel()
	var adapter struct {
		Rules []struct {
			Series string `yaml:"seriesQuery"`
		} `yaml:"externalRules"`
	}
	load(t, "kubernetes/monitoring/prometheus-adapter.yml", &adapter)
	known := products(t)
	var made []string
	for _, r := range adapter.Rules {
		for _, wrong := range known.wrong(r.Series) {
			t.Error(wrong)
		}
		name, _, _ := strings.Cut(r.Series, "{")
		made = append(made, name)
	}
	used := 0
	for _, h := range of(manifests(t), "HorizontalPodAutoscaler") {
		for _, m := range h.Spec.Metrics {
			name := m.External.Metric.Name
			if name == "" {
				continue
			}
			used++
			if !slices.Contains(made, name) {
				t.Errorf("%s scales by %s, which nothing makes", h.Metadata.Name, name)
			}
		}
	}
	if used != len(made) {
		t.Errorf("%d metrics are made, %d used", len(made), used)
	}
}

// TestKustomizationHasEveryFile of the base: "kubectl apply -k" applies no other.
func TestKustomizationHasEveryFile(t *testing.T) {
	t.Parallel()
	var kustomization struct{ Resources []string }
	load(t, "kubernetes/kustomization.yaml", &kustomization)
	var want []string
	for _, file := range files(t, "kubernetes/base/*.yaml") {
		want = append(want, "base/"+filepath.Base(file))
	}
	slices.Sort(kustomization.Resources)
	if !slices.Equal(kustomization.Resources, want) {
		t.Errorf("kustomization.yaml lists %q, the folder has %q", kustomization.Resources, want)
	}
}

// TestEverythingIsInOneNamespace, which the guide's commands name.
func TestEverythingIsInOneNamespace(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("kubernetes/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests(t) {
		switch {
		case m.Kind == "Namespace" && m.Metadata.Name == "anabranch":
		case m.Metadata.Namespace != "anabranch":
			t.Errorf("%s %s%s is in the namespace %q", m.Kind, m.Metadata.Name, m.Metadata.GenerateName, m.Metadata.Namespace)
		}
	}
	for _, file := range []string{"secret.example.yaml", "workspace/configmap.yaml", "workspace/job.yaml", "monitoring/podmonitor.yaml"} {
		if !strings.Contains(string(guide), file) {
			t.Errorf("kubernetes/README.md does not speak of %s", file)
		}
	}
}
