package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// variable is one setting as its struct tags describe it.
type variable struct {
	name, def, desc string
	kind            reflect.Type
}

// variables lists every setting in the order of the structs that hold them.
func variables() []variable {
	var all []variable
	collect(reflect.TypeFor[Config](), &all)
	return all
}

func collect(t reflect.Type, all *[]variable) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
		switch {
		case name != "":
			*all = append(*all, variable{name: name, def: f.Tag.Get("envDefault"), desc: f.Tag.Get("desc"), kind: f.Type})
		case f.Type.Kind() == reflect.Struct:
			collect(f.Type, all)
		}
	}
}

// parse reads the environment. The library's error names the field of a
// struct, which means nothing to whoever set the variable; so each variable is
// then tried by itself to find those at fault.
func parse(environment map[string]string) (Config, error) {
	cfg, err := env.ParseAsWithOptions[Config](env.Options{Environment: environment})
	if err == nil {
		return cfg, nil
	}
	var faults []error
	for _, v := range variables() {
		value, set := environment[v.name]
		if !set {
			continue
		}
		alone := env.Options{Environment: map[string]string{v.name: value}}
		if _, fault := env.ParseAsWithOptions[Config](alone); fault != nil {
			faults = append(faults, fmt.Errorf("%s=%s: expected %s", v.name, value, expectation(v.kind)))
		}
	}
	if len(faults) == 0 {
		return cfg, fmt.Errorf("read the settings: %w", err)
	}
	return cfg, errors.Join(faults...)
}

// expectation says in words what a value of the type looks like.
func expectation(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a duration such as 500ms, 5s or 4h"
	case reflect.TypeFor[netip.Prefix]():
		return "a network such as 10.0.0.0/8"
	}
	switch t.Kind() {
	case reflect.Slice:
		return "a comma-separated list, each " + expectation(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint64:
		return "a whole number"
	default:
		return "a text"
	}
}

// Unknown returns the variables of the environment that look like settings of
// ours and are not, sorted: a typing error in a name would otherwise go unnoticed.
func Unknown(environment map[string]string) []string {
	known := map[string]bool{}
	for _, v := range variables() {
		known[v.name] = true
	}
	var names []string
	for name := range environment {
		if !known[name] && looksOurs(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func looksOurs(name string) bool {
	for _, prefix := range []string{
		"ADMIN_", "DELIVER_", "INGEST_", "KAFKA_SASL_", "KAFKA_TLS_", "METRICS_", "RAW_EVENTS_", "RETRY_TOPIC_", "ROUTER_", "TOPIC_", "WEBHOOK_SINK_",
	} {
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
