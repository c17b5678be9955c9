package settings

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"

	"github.com/anabranch/anabranch/internal/broker/datadir"
)

// Told returns what a process tells commands beside it: its settings, but for secrets
// and for those that each process has for itself.
func (c *Config) Told(environment map[string]string) map[string]string {
	own := []string{"DATA_DIR", "LOG_LEVEL", "LOG_FORMAT", "KAFKA_BROKERS"}
	told := make(map[string]string)
	for _, v := range c.variables() {
		value := cmp.Or(environment[v.name], v.def)
		if value != "" && !v.secret() && !slices.Contains(own, v.name) {
			told[v.name] = value
		}
	}
	return told
}

// Differ are the settings that a running process has told and this one has otherwise,
// with the values of that one.
func (p *Process) Differ() map[string]string {
	differ := make(map[string]string)
	for name, value := range p.Running {
		if own := p.Environment[name]; own != "" && own != value {
			differ[name] = value
		}
	}
	return differ
}

// OpenBeside is [Program.Open] for a command about what an `anabranch run` does: what
// the command's own environment leaves open is as in that process, which tells it in
// DATA_DIR. A command that names other brokers is not about that process.
func (p Program) OpenBeside() (Process, error) {
	environment := env.ToMap(os.Environ())
	running, err := datadir.ReadSettings(cmp.Or(environment["DATA_DIR"], defaultOf("DATA_DIR")))
	complete, isBeside := beside(environment, running)
	switch {
	case !isBeside:
		return p.Open()
	case err != nil:
		return Process{}, err
	}
	proc, err := p.open(complete)
	proc.Environment, proc.Running = environment, running
	return proc, err
}

func defaultOf(name string) string {
	for _, v := range new(Config).variables() {
		if v.name == name {
			return v.def
		}
	}
	return ""
}

// beside completes an environment by what a process has told, unless it names other
// brokers than that one's. One that names the process's own in KAFKA_BROKERS, and no
// credentials, needs the password in DATA_DIR, as if it had named none.
func beside(environment, running map[string]string) (complete map[string]string, isBeside bool) {
	const brokers, mechanism, own = "KAFKA_BROKERS", "KAFKA_SASL_MECHANISM", "BROKER_ADDR"
	named := strings.Replace(environment[brokers], "localhost:", "127.0.0.1:", 1)
	if named != "" && named != running[own] {
		return nil, false
	}
	complete = maps.Clone(running)
	if complete == nil {
		complete = make(map[string]string)
	}
	maps.Copy(complete, environment)
	if named != "" && environment[mechanism] == "" {
		delete(complete, brokers)
		complete[own] = named
	}
	return complete, true
}
