package settings

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/caarlos0/env/v11"
	"golang.org/x/term"

	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/telemetry"
)

// Streams are where the process writes: Out is for people and scripts, Err for
// the log.
type Streams struct{ Out, Err *os.File }

// Print writes a text for people to Out.
func (s Streams) Print(text string) error {
	if _, err := io.WriteString(s.Out, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// Program is what the process was started as.
type Program struct {
	Streams

	Stages pipeline.List
}

// Process is what a process that runs something has around it.
type Process struct {
	Config Config
	Log    *slog.Logger
	// Out is where people read: the start-up text and the built-in receiver's
	// deliveries.
	Out io.Writer
	// Color is true when Out is a terminal.
	Color bool
	// Environment is the process's, to find settings with a typing error in the
	// name.
	Environment map[string]string
	// Running are the variables that a process beside this one runs with, where a
	// command has asked for them.
	Running map[string]string
}

// Open reads the settings from the environment and makes the log.
func (p Program) Open() (Process, error) { return p.open(env.ToMap(os.Environ())) }

func (p Program) open(environment map[string]string) (Process, error) {
	cfg, err := Load(environment, p.Stages)
	if err != nil {
		return Process{}, err
	}
	log, err := telemetry.NewLogger(p.Err, cfg.LogLevel, cfg.LogFormat, Terminal(p.Err))
	if err != nil {
		return Process{}, err
	}
	return Process{Config: cfg, Log: log, Out: p.Out, Color: Terminal(p.Out), Environment: environment}, nil
}

// Terminal reports whether a person sees what is written to f.
func Terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
