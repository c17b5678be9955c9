package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/anabranch/anabranch/internal/pipeline"
)

// variable is one setting as its struct tags describe it.
type variable struct {
	name, def, desc string
	kind            reflect.Type
	of              reflect.Type // the struct that it is read into
}

// variables lists every setting in the order of the structs that hold them, those of
// stages where Config has the stages.
func (c *Config) variables() []variable {
	return c.collect(reflect.TypeFor[Config](), reflect.TypeFor[Config]())
}

func (c *Config) collect(t, of reflect.Type) (all []variable) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
		switch {
		case f.Type == reflect.TypeFor[pipeline.Stages]():
			for _, s := range c.Stages {
				own := reflect.TypeOf(s.Config).Elem()
				all = append(all, c.collect(own, own)...)
			}
		case name != "":
			v := variable{name: name, def: f.Tag.Get("envDefault"), desc: f.Tag.Get("desc"), kind: f.Type, of: of}
			if v.secret() {
				v.desc += "; " + name + fileSuffix + " names a file that holds it"
			}
			all = append(all, v)
		case f.Type.Kind() == reflect.Struct:
			all = append(all, c.collect(f.Type, of)...)
		}
	}
	return all
}

// parse reads the environment. The library's error names the field of a
// struct, which means nothing to whoever set the variable; so each variable is
// then tried by itself to find those at fault.
func (c *Config) parse(environment map[string]string) error {
	err := env.ParseWithOptions(c, env.Options{Environment: environment})
	for _, s := range c.Stages {
		err = errors.Join(err, env.ParseWithOptions(s.Config, env.Options{Environment: environment}))
	}
	if err == nil {
		return nil
	}
	var faults []error
	for _, v := range c.variables() {
		value, set := environment[v.name]
		if !set {
			continue
		}
		alone := env.Options{Environment: map[string]string{v.name: value}}
		if fault := env.ParseWithOptions(reflect.New(v.of).Interface(), alone); fault != nil {
			faults = append(faults, fmt.Errorf("%s=%s: expected %s", v.name, value, expectation(v.kind)))
		}
	}
	if len(faults) == 0 {
		return fmt.Errorf("read the settings: %w", err)
	}
	return errors.Join(faults...)
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
