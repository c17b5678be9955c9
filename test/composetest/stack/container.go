package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Container is one container as `docker inspect` describes it.
type Container struct {
	ID           string `json:"Id"`
	Name         string `json:"Name"`
	RestartCount int    `json:"RestartCount"`
	State        struct {
		Running bool `json:"Running"`
		Pid     int  `json:"Pid"`
		// ExitCode is that of the process that ended last.
		ExitCode int `json:"ExitCode"`
		Health   *struct {
			Status string `json:"Status"`
		} `json:"Health"`
	} `json:"State"`
	Config struct {
		Hostname string `json:"Hostname"`
		User     string `json:"User"`
	} `json:"Config"`
	HostConfig struct {
		ReadonlyRootfs bool     `json:"ReadonlyRootfs"`
		CapDrop        []string `json:"CapDrop"`
		SecurityOpt    []string `json:"SecurityOpt"`
	} `json:"HostConfig"`
}

// String says which container it is and how it is.
func (c Container) String() string {
	state := fmt.Sprintf("ended with %d", c.State.ExitCode)
	if c.State.Running {
		state = "running"
	}
	if c.State.Health != nil {
		state += ", " + c.State.Health.Status
	}
	return strings.TrimPrefix(c.Name, "/") + " " + state
}

// Healthy reports whether the container runs and its health check says so. One
// without a health check is never healthy.
func (c Container) Healthy() bool {
	return c.State.Running && c.State.Health != nil && c.State.Health.Status == "healthy"
}

// Unconfined lists what the container is allowed though a stage needs none of it.
func (c Container) Unconfined() []string {
	var all []string
	if user, _, _ := strings.Cut(c.Config.User, ":"); user == "" || user == "0" || user == "root" {
		all = append(all, "runs as root")
	}
	if !c.HostConfig.ReadonlyRootfs {
		all = append(all, "may write to its image")
	}
	if !slices.Contains(c.HostConfig.CapDrop, "ALL") {
		all = append(all, "has capabilities")
	}
	if !slices.ContainsFunc(c.HostConfig.SecurityOpt, func(o string) bool {
		return strings.HasPrefix(o, "no-new-privileges") && !strings.HasSuffix(o, "false")
	}) {
		all = append(all, "may gain privileges")
	}
	return all
}

// Containers returns the containers of a service, also those that have ended, in
// the order of their names. None is an error.
func (s *Stack) Containers(ctx context.Context, service string) ([]Container, error) {
	// Compose itself would answer too, after the best part of a second: version 1
	// is a Python program.
	ids, err := s.run(ctx, []string{
		"docker", "ps", "--all", "--quiet", "--no-trunc",
		"--filter", "label=com.docker.compose.project=" + s.project,
		"--filter", "label=com.docker.compose.service=" + service,
		"--filter", "label=com.docker.compose.oneoff=False",
	})
	if err != nil {
		return nil, err
	}
	if ids == "" {
		return nil, fmt.Errorf("service %s has no container", service)
	}
	text, err := s.run(ctx, append([]string{"docker", "inspect"}, strings.Fields(ids)...))
	if err != nil {
		return nil, err
	}
	return parseContainers(text)
}

func parseContainers(text string) ([]Container, error) {
	var all []Container
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("read docker inspect: %w", err)
	}
	slices.SortFunc(all, func(a, b Container) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
