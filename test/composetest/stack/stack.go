package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Stack is a Compose project in the working directory.
type Stack struct {
	compose []string // the command, with what goes before each subcommand
	project string
	log     io.Writer
}

// Open finds Compose. project is the prefix of all that is created; command is how
// Compose is called, empty for the first of `docker compose` and `docker-compose`
// that works. What the tools say goes to log.
func Open(ctx context.Context, project, command string, log io.Writer) (*Stack, error) {
	candidates := []string{"docker compose", "docker-compose"}
	if command != "" {
		candidates = []string{command}
	}
	var faults []error
	for _, candidate := range candidates {
		s := &Stack{compose: strings.Fields(candidate), project: project, log: log}
		version, err := s.run(ctx, slices.Concat(s.compose, []string{"version", "--short"}))
		if err == nil {
			s.compose = append(s.compose, "--project-name", project)
			return s, s.note(candidate + " " + version)
		}
		faults = append(faults, err)
	}
	return nil, fmt.Errorf("find Docker Compose: %w", errors.Join(faults...))
}

// Compose runs a subcommand and returns what it prints to standard output.
func (s *Stack) Compose(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, slices.Concat(s.compose, args))
}

// Up brings the services up, each with as many containers as scale says, else one.
func (s *Stack) Up(ctx context.Context, scale map[string]int) error {
	_, err := s.Compose(ctx, upArgs(scale)...)
	return err
}

func upArgs(scale map[string]int) []string {
	args := append(make([]string, 0, 2+2*len(scale)), "up", "-d")
	for _, service := range slices.Sorted(maps.Keys(scale)) {
		args = append(args, "--scale", service+"="+strconv.Itoa(scale[service]))
	}
	return args
}

// Down removes all that the project has made but its images.
func (s *Stack) Down(ctx context.Context) error {
	_, err := s.Compose(ctx, "down", "--volumes", "--remove-orphans", "--timeout", "10")
	return err
}

// Logs writes what the services said to the log, but for the deliveries that the
// receiver prints.
func (s *Stack) Logs(ctx context.Context) error {
	names, err := s.Compose(ctx, "config", "--services")
	if err != nil {
		return err
	}
	services := slices.DeleteFunc(strings.Fields(names), func(name string) bool { return name == "receiver" })
	text, err := s.Compose(ctx, slices.Concat([]string{"logs", "--no-color", "--timestamps"}, services)...)
	return errors.Join(err, s.note(text))
}

func (s *Stack) note(text string) error {
	if _, err := io.WriteString(s.log, text+"\n"); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}

// Follow copies what a service prints to standard output to w until ctx ends or
// its container stops.
func (s *Stack) Follow(ctx context.Context, service string, w io.Writer) error {
	all, err := s.Containers(ctx, service)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "docker", "logs", "--follow", all[0].ID) //nolint:gosec // the engine's own id
	cmd.Stdout = w
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("follow %s: %w", service, err)
	}
	return nil
}

// pollInterval is how often a container is looked at that something is expected of.
const pollInterval = 500 * time.Millisecond

// Await waits until the service has n containers that are running and healthy, and
// returns them.
func (s *Stack) Await(ctx context.Context, service string, n int) ([]Container, error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var last string
	for {
		all, err := s.Containers(ctx, service)
		if err == nil && len(all) == n && !slices.ContainsFunc(all, func(c Container) bool { return !c.Healthy() }) {
			return all, nil
		}
		// What the end of ctx has cut short found nothing out.
		if ctx.Err() == nil {
			last = fmt.Sprint(all)
			if err != nil {
				last = err.Error()
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %d healthy %s: %w: %s", n, service, context.Cause(ctx), last)
		}
	}
}

// run runs a command. Its standard error goes to the log, and into the error.
func (s *Stack) run(ctx context.Context, command []string) (string, error) {
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the commands of this program
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(&errOut, s.log)
	if err := s.note("+ " + strings.Join(command, " ")); err != nil {
		return "", err
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, lastLine(errOut.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
