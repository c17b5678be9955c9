package sdks

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

var (
	//go:embed scripts/python.py
	pythonScript []byte
	//go:embed scripts/node.mjs
	nodeScript []byte
)

// SDK is one that is installed.
type SDK struct {
	Name string
	// Ordered says that it keeps the order of a user's calls when requests fail:
	// it sends one batch at a time, and the same again before the next.
	Ordered bool

	program string // path, or name to look for
	marker  string // a file that is there when the SDK is installed
	script  []byte
	suffix  string // of the script's file: it tells node that it is a module
	modules string // where a script finds the SDK, for those that ask
}

// installed are the SDKs as "make sdk-test" installs them into its cache.
//
// Python's 2.4 puts a batch that was answered 503 with Retry-After behind those
// that came meanwhile, and Node's sends batches at the same time: neither keeps
// the order of a user's calls by itself.
func installed(cache string) []SDK {
	python := func(name, environment string, ordered bool) SDK {
		program := filepath.Join(cache, "python", environment, "bin", "python")
		return SDK{Name: name, Ordered: ordered, program: program, marker: program, script: pythonScript, suffix: ".py"}
	}
	modules := filepath.Join(cache, "node", "node_modules")
	return []SDK{
		python("python23", "venv-segment-old", true),
		python("python24", "venv-segment", false),
		{
			Name: "node", program: "node", script: nodeScript, suffix: ".mjs", modules: modules + string(filepath.Separator),
			marker: filepath.Join(modules, "@segment", "analytics-node", "package.json"),
		},
	}
}

// Find returns the SDKs in the cache of "make sdk-test". One that is missing is an
// error: a run without it would claim more than it shows.
func Find(cache string) ([]SDK, error) {
	cache, err := filepath.Abs(cache)
	if err != nil {
		return nil, err
	}
	all := installed(cache)
	for _, s := range all {
		_, markerErr := os.Stat(s.marker)
		_, programErr := exec.LookPath(s.program)
		if err = errors.Join(markerErr, programErr); err != nil {
			return nil, fmt.Errorf(`find the SDK %s: %w; "make sdk-test" installs it`, s.Name, err)
		}
	}
	return all, nil
}

// Load is what an SDK is to do.
type Load struct {
	Endpoint string // base URL of the collection API
	WriteKey string
	Rate     int // calls per second
	Keys     int // users, which are this SDK's alone
	Duration time.Duration
	Books    *books.Books
	Dir      string // for the script and what it says beside its lines
}

// Run has the SDK make the load and returns when all calls are accepted or given
// up. The SDK's name is the producer in the books.
func (s *SDK) Run(ctx context.Context, l *Load) (Count, error) {
	count, err := s.run(ctx, l)
	if err != nil {
		return count, fmt.Errorf("make load with the SDK %s: %w", s.Name, err)
	}
	return count, nil
}

func (s *SDK) run(ctx context.Context, l *Load) (Count, error) {
	script := filepath.Join(l.Dir, s.Name+s.suffix)
	if err := os.WriteFile(script, s.script, 0o600); err != nil {
		return Count{}, err
	}
	log, err := os.Create(filepath.Join(l.Dir, s.Name+".log"))
	if err != nil {
		return Count{}, err
	}
	defer log.Close()                                      //nolint:errcheck // for whoever looks into a failure
	command := exec.CommandContext(ctx, s.program, script) //nolint:gosec // from the table above
	command.Env = append(os.Environ(), s.environment(l)...)
	command.Stderr = log
	// Ctrl-C goes to the bench alone, which ends its children itself, and theirs.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	lines, err := command.StdoutPipe()
	if err != nil {
		return Count{}, err
	}
	if err = command.Start(); err != nil {
		return Count{}, err
	}
	count, err := enter(lines, l.Books)
	if err != nil {
		_ = command.Cancel() // it may wait for somebody to read what it says
	}
	return count, errors.Join(err, command.Wait())
}

func (s *SDK) environment(l *Load) []string {
	return []string{
		"ENDPOINT=" + l.Endpoint,
		"WRITE_KEY=" + l.WriteKey,
		"RUN=" + l.Books.Run(),
		"PRODUCER=" + s.Name,
		"RATE=" + strconv.Itoa(l.Rate),
		"KEYS=" + strconv.Itoa(l.Keys),
		"SECONDS=" + strconv.FormatFloat(l.Duration.Seconds(), 'f', -1, 64),
		"MODULES=" + s.modules,
	}
}
