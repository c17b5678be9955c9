package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manifest is an object of Kubernetes, as far as it matters here. A schema checker
// has looked for fields that do not exist (scripts/deploy/check.sh).
type manifest struct {
	file     string
	Kind     string
	Metadata struct {
		Name, GenerateName, Namespace string
		Labels                        map[string]string
	}
	Data       map[string]string
	StringData map[string]string `yaml:"stringData"`
	Spec       spec
}

type spec struct {
	// A workload's, a Service's, a disruption budget's or a network policy's.
	Selector    selectors
	PodSelector selectors `yaml:"podSelector"`
	ServiceName string    `yaml:"serviceName"`
	Template    struct {
		Metadata struct{ Labels map[string]string }
		Spec     pod
	}
	Ports []struct {
		TargetPort string `yaml:"targetPort"`
	}
	Ingress []struct {
		Ports []struct{ Port string }
	}
	Egress []struct {
		To []struct {
			Block struct {
				CIDR   string
				Except []string
			} `yaml:"ipBlock"`
		}
	}
	// An autoscaler's.
	ScaleTargetRef struct{ Kind, Name string } `yaml:"scaleTargetRef"`
	MinReplicas    int                         `yaml:"minReplicas"`
	MaxReplicas    int                         `yaml:"maxReplicas"`
	Metrics        []struct {
		External struct{ Metric struct{ Name string } }
	}
}

// selectors are labels: those of a Service stand by themselves, those of everything
// else below matchLabels.
type selectors map[string]string

func (s *selectors) UnmarshalYAML(node *yaml.Node) error {
	var below struct {
		Labels map[string]string `yaml:"matchLabels"`
	}
	if err := node.Decode(&below); err == nil && below.Labels != nil {
		*s = below.Labels
		return nil
	}
	return node.Decode((*map[string]string)(s))
}

// match tells whether something with these labels is selected.
func (s selectors) match(labels map[string]string) bool {
	for key, value := range s {
		if labels[key] != value {
			return false
		}
	}
	return len(s) > 0
}

type pod struct {
	Token   *bool              `yaml:"automountServiceAccountToken"`
	Grace   int                `yaml:"terminationGracePeriodSeconds"`
	Context securityContext    `yaml:"securityContext"`
	All     []container        `yaml:"containers"`
	Spread  []spreadConstraint `yaml:"topologySpreadConstraints"`
	Volumes []struct {
		ConfigMap struct{ Name string } `yaml:"configMap"`
	}
}

type spreadConstraint struct {
	Selector selectors `yaml:"labelSelector"`
}

type securityContext struct {
	NonRoot    bool                    `yaml:"runAsNonRoot"`
	User       int                     `yaml:"runAsUser"`
	Escalation *bool                   `yaml:"allowPrivilegeEscalation"`
	ReadOnly   bool                    `yaml:"readOnlyRootFilesystem"`
	Seccomp    struct{ Type string }   `yaml:"seccompProfile"`
	Caps       struct{ Drop []string } `yaml:"capabilities"`
}

type container struct {
	Name, Image string
	Args        []string
	EnvFrom     []struct {
		ConfigMap reference `yaml:"configMapRef"`
		Secret    reference `yaml:"secretRef"`
	} `yaml:"envFrom"`
	Env []struct {
		Name, Value string
		ValueFrom   struct {
			FieldRef struct {
				Path string `yaml:"fieldPath"`
			} `yaml:"fieldRef"`
		} `yaml:"valueFrom"`
	}
	Ports []struct {
		Name string
		Port int `yaml:"containerPort"`
	}
	Startup   probe `yaml:"startupProbe"`
	Readiness probe `yaml:"readinessProbe"`
	Liveness  probe `yaml:"livenessProbe"`
	Lifecycle struct {
		PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
	}
	Context   securityContext `yaml:"securityContext"`
	Resources struct{ Requests, Limits struct{ CPU, Memory string } }
}

type reference struct {
	Name     string
	Optional bool
}

type probe struct {
	Get      struct{ Path, Port string } `yaml:"httpGet"`
	Period   int                         `yaml:"periodSeconds"`
	Failures int                         `yaml:"failureThreshold"`
}

// hasPort tells whether the container names a port so.
func (c *container) hasPort(name string) bool {
	for _, p := range c.Ports {
		if p.Name == name {
			return true
		}
	}
	return false
}

// manifests returns every object of every file that is applied or copied.
func manifests(t *testing.T) []manifest {
	t.Helper()
	var all []manifest
	for _, pattern := range []string{"kubernetes/base/*.yaml", "kubernetes/workspace/*.yaml", "kubernetes/*.example.yaml"} {
		for _, file := range files(t, pattern) {
			all = append(all, objects(t, file)...)
		}
	}
	return all
}

func objects(t *testing.T, file string) []manifest {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []manifest
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		m := manifest{file: file}
		switch err := decoder.Decode(&m); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, m)
	}
}

// of returns the objects of some kinds.
func of(all []manifest, kinds ...string) []manifest {
	var some []manifest
	for i := range all {
		for _, kind := range kinds {
			if all[i].Kind == kind {
				some = append(some, all[i])
			}
		}
	}
	return some
}

// named returns the object of a kind and a name.
func named(t *testing.T, all []manifest, kind, name string) manifest {
	t.Helper()
	for _, m := range of(all, kind) {
		if m.Metadata.Name == name {
			return m
		}
	}
	t.Fatalf("no %s is named %q", kind, name)
	return manifest{}
}

// workloads are the objects that make pods.
func workloads(all []manifest) []manifest { return of(all, "Deployment", "StatefulSet", "Job") }

// selected returns the workloads whose pods are selected.
func selected(all []manifest, by selectors) []manifest {
	var some []manifest
	for _, w := range workloads(all) {
		if by.match(w.Spec.Template.Metadata.Labels) {
			some = append(some, w)
		}
	}
	return some
}
