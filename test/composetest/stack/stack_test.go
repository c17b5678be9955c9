package stack

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func selfPid() int { return os.Getpid() }

// tools puts programs of the test's own in front of the PATH. Each gets a shell
// script for a body; what it was called with is in the file calls.
func tools(t *testing.T, scripts map[string]string) (calls func() []string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "calls")
	for name, script := range scripts {
		text := "#!/bin/sh\necho \"" + name + " $*\" >>" + log + "\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() []string {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

func open(t *testing.T, command string) (*Stack, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s, err := Open(t.Context(), "p", command, &log)
	if err != nil {
		t.Fatal(err)
	}
	return s, &log
}

func TestOpenPrefersThePlugin(t *testing.T) {
	tools(t, map[string]string{"docker": "echo 2.40.3", "docker-compose": "echo 1.29.2"})
	if s, _ := open(t, ""); !slices.Equal(s.compose, []string{"docker", "compose", "--project-name", "p"}) {
		t.Errorf("Compose is called as %v", s.compose)
	}
	if s, _ := open(t, "docker-compose"); s.compose[0] != "docker-compose" {
		t.Errorf("asked for docker-compose, it is called as %v", s.compose)
	}
}

func TestOpenFindsTheOlderProgram(t *testing.T) {
	tools(t, map[string]string{
		"docker":         "echo \"docker: 'compose' is not a docker command.\" >&2; exit 1",
		"docker-compose": "echo 1.29.2",
	})
	s, log := open(t, "")
	if s.compose[0] != "docker-compose" || !strings.Contains(log.String(), "docker-compose 1.29.2") {
		t.Errorf("Compose is called as %v, the log says\n%s", s.compose, log)
	}
}

func TestOpenWithoutCompose(t *testing.T) {
	tools(t, map[string]string{"docker": "exit 1", "docker-compose": "echo broken >&2; exit 1"})
	if _, err := Open(t.Context(), "p", "", new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got %v, want why neither works", err)
	}
}

func TestUpScalesAsTyped(t *testing.T) {
	calls := tools(t, map[string]string{"docker-compose": "echo 1.29.2"})
	s, _ := open(t, "docker-compose")
	if err := s.Up(t.Context(), map[string]int{"webhook-sink": 3, "router": 2}); err != nil {
		t.Fatal(err)
	}
	if err := s.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"docker-compose version --short",
		"docker-compose --project-name p up -d --scale router=2 --scale webhook-sink=3",
		"docker-compose --project-name p down --volumes --remove-orphans --timeout 10",
	}
	if got := calls(); !slices.Equal(got, want) {
		t.Errorf("called\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestErrorSaysWhatComposeSaid(t *testing.T) {
	tools(t, map[string]string{"docker-compose": `[ "$1" = version ] && exit 0; echo one >&2; echo no such service: x >&2; exit 3`})
	s, log := open(t, "docker-compose")
	_, err := s.Compose(t.Context(), "start", "x")
	if err == nil || !strings.HasSuffix(err.Error(), "start x: exit status 3: no such service: x") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(log.String(), "one\nno such service: x") {
		t.Errorf("the log has\n%s", log)
	}
}

// healthyAfter answers `docker inspect` as starting twice and then as healthy.
const healthyAfter = `
case $1 in
compose) echo 2 ;;
ps) echo a1 ;;
inspect)
  n=$(cat "$0.n" 2>/dev/null || echo 0)
  echo $((n + 1)) >"$0.n"
  state=starting
  [ $n -lt 2 ] || state=healthy
  echo '[{"Id":"a1","Name":"/p_router_1","RestartCount":'$n',"State":{"Running":true,"Health":{"Status":"'$state'"}}}]'
  ;;
esac`

func TestAwaitWaitsForHealth(t *testing.T) {
	calls := tools(t, map[string]string{"docker": healthyAfter})
	s, _ := open(t, "")
	all, err := s.Await(t.Context(), "router", 1)
	if err != nil || len(all) != 1 || all[0].RestartCount != 2 {
		t.Fatalf("%v, %v; want the container as it was seen the third time", all, err)
	}
	want := "docker ps --all --quiet --no-trunc --filter label=com.docker.compose.project=p" +
		" --filter label=com.docker.compose.service=router --filter label=com.docker.compose.oneoff=False"
	if !slices.Contains(calls(), want) {
		t.Errorf("called\n%s\nwant among them\n%s", strings.Join(calls(), "\n"), want)
	}
}

func TestAwaitSaysWhatItHas(t *testing.T) {
	calls := tools(t, map[string]string{"docker": healthyAfter})
	s, _ := open(t, "")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		// Once it asks again it has seen what there is.
		for strings.Count(strings.Join(calls(), "\n"), "docker ps") < 2 {
			<-time.After(10 * time.Millisecond)
		}
		cancel(errors.New("enough"))
	}()
	_, err := s.Await(ctx, "router", 2)
	if err == nil || !strings.Contains(err.Error(), "wait for 2 healthy router: enough: [p_router_1 running") {
		t.Errorf("got %v", err)
	}
}

func TestContainersOfAnUnknownService(t *testing.T) {
	tools(t, map[string]string{"docker": "exit 0"})
	s, _ := open(t, "")
	if all, err := s.Containers(t.Context(), "nobody"); err == nil {
		t.Errorf("a service without a container has %v", all)
	}
}

// TestKillWithoutTheProcess: on another machine's engine the process is out of
// reach.
func TestKillWithoutTheProcess(t *testing.T) {
	calls := tools(t, map[string]string{"docker": "exit 0"})
	s, _ := open(t, "")
	c := Container{ID: "a1"}
	c.State.Pid = 1 << 30
	if err := s.Kill(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	if got := calls(); !slices.Equal(got[1:], []string{"docker kill a1", "docker start a1"}) {
		t.Errorf("called %v", got)
	}
}

func TestFollow(t *testing.T) {
	tools(t, map[string]string{"docker": `
case $1 in
ps) echo a1 ;;
inspect) echo '[{"Id":"a1"}]' ;;
logs) echo to the books; echo to nobody >&2 ;;
esac`})
	s, _ := open(t, "")
	var out bytes.Buffer
	if err := s.Follow(t.Context(), "receiver", &out); err != nil || out.String() != "to the books\n" {
		t.Errorf("%v, followed %q", err, out.String())
	}
}

func TestLogsLeaveTheDeliveriesOut(t *testing.T) {
	calls := tools(t, map[string]string{"docker-compose": `
case $* in
*config*) printf 'ingest\nreceiver\nrouter\n' ;;
*logs*) echo what was said ;;
esac`})
	s, log := open(t, "docker-compose")
	if err := s.Logs(t.Context()); err != nil || !strings.Contains(log.String(), "what was said") {
		t.Errorf("%v, the log has\n%s", err, log)
	}
	if got := calls(); !slices.Contains(got, "docker-compose --project-name p logs --no-color --timestamps ingest router") {
		t.Errorf("called %v", got)
	}
}
