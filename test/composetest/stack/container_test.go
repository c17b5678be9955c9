package stack

import (
	"slices"
	"strings"
	"testing"
)

// inspected is as much of `docker inspect` as is read, of an engine 20.10.
const inspected = `[
 {"Id":"b2","Name":"/p_router_2","RestartCount":1,
  "State":{"Running":true,"Pid":77,"ExitCode":0,"Health":{"Status":"healthy","Log":[]}},
  "Config":{"Hostname":"b2b2","User":"65532:65532"},
  "HostConfig":{"ReadonlyRootfs":true,"CapDrop":["ALL"],"SecurityOpt":["no-new-privileges:true"]}},
 {"Id":"a1","Name":"/p_router_1","RestartCount":0,
  "State":{"Running":false,"Pid":0,"ExitCode":137},
  "Config":{"Hostname":"a1a1","User":""},
  "HostConfig":{"ReadonlyRootfs":false,"CapDrop":null,"SecurityOpt":null}}
]`

func TestParseContainers(t *testing.T) {
	t.Parallel()
	all, err := parseContainers(inspected)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].ID != "a1" || all[1].ID != "b2" {
		t.Fatalf("got %v, want the two in the order of their names", all)
	}
	if c := all[1]; !c.Healthy() || c.RestartCount != 1 || c.State.Pid != 77 || c.Config.Hostname != "b2b2" || len(c.Unconfined()) > 0 {
		t.Errorf("got %+v, not confined in %v", c, c.Unconfined())
	}
	if got := all[1].String(); got != "p_router_2 running, healthy" {
		t.Errorf("described as %q", got)
	}
	if got := all[0].String(); got != "p_router_1 ended with 137" {
		t.Errorf("described as %q", got)
	}
	if _, err = parseContainers("Error: No such object"); err == nil {
		t.Error("what is no JSON is a list of containers")
	}
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{
		`{"Running":true,"Health":{"Status":"healthy"}}`:   true,
		`{"Running":true,"Health":{"Status":"starting"}}`:  false,
		`{"Running":true,"Health":{"Status":"unhealthy"}}`: false,
		`{"Running":true}`: false,
		`{"Running":false,"Health":{"Status":"healthy"}}`: false,
	} {
		all, err := parseContainers(`[{"State":` + state + `}]`)
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		if all[0].Healthy() != want {
			t.Errorf("%s is healthy: %v, want %v", state, all[0].Healthy(), want)
		}
	}
}

// TestUnconfined takes one protection after the other away: each has to be missed.
func TestUnconfined(t *testing.T) {
	t.Parallel()
	confined := func() Container {
		var c Container
		c.Config.User = "65532:65532"
		c.HostConfig.ReadonlyRootfs = true
		c.HostConfig.CapDrop = []string{"ALL"}
		c.HostConfig.SecurityOpt = []string{"no-new-privileges"}
		return c
	}
	if faults := confined().Unconfined(); len(faults) > 0 {
		t.Errorf("a confined container: %v", faults)
	}
	for want, loosen := range map[string]func(*Container){
		"runs as root":           func(c *Container) { c.Config.User = "0:65532" },
		"may write to its image": func(c *Container) { c.HostConfig.ReadonlyRootfs = false },
		"has capabilities":       func(c *Container) { c.HostConfig.CapDrop = []string{"NET_RAW"} },
		"may gain privileges":    func(c *Container) { c.HostConfig.SecurityOpt = []string{"no-new-privileges:false", "seccomp=x"} },
	} {
		c := confined()
		loosen(&c)
		if faults := c.Unconfined(); !slices.Equal(faults, []string{want}) {
			t.Errorf("got %v, want %q", faults, want)
		}
	}
}

func TestKillSparesOtherProcesses(t *testing.T) {
	t.Parallel()
	// The number is this test's own; the container's id is in no cgroup of it.
	for _, pid := range []int{1 << 30, 0, selfPid()} {
		c := Container{ID: strings.Repeat("f0", 32)}
		c.State.Pid = pid
		if killProcess(&c) {
			t.Errorf("process %d was killed for a container that it does not belong to", pid)
		}
	}
	// A container that has ended has no id in the answer of some engines.
	c := Container{}
	c.State.Pid = selfPid()
	if killProcess(&c) {
		t.Error("a container without an id has a process")
	}
}
