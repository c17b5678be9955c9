package child

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func process(t *testing.T, script string) *Process {
	t.Helper()
	p := &Process{Name: "victim", Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), "log"), Admin: "127.0.0.1:1"}
	if err := p.Start(); err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(p.Discard)
	return p
}

func TestKillCountsTheLivingAlone(t *testing.T) {
	if err := process(t, "exec sleep 60").Kill(); err != nil {
		t.Errorf("kill of a living process: %v", err)
	}
	gone := process(t, "exit 3")
	<-gone.ended
	if err := gone.Kill(); err == nil {
		t.Error("kill of one that had ended by itself: no error, so the row would count a fault that was none")
	}
}

func TestStopTellsCleanFromUnclean(t *testing.T) {
	clean := process(t, `trap "exit 0" TERM; echo up; while :; do sleep 0.01; done`)
	if err := Until(t.Context(), time.Minute, "the trap", func() bool { return said(t, clean) }); err != nil {
		t.Fatal(err)
	}
	if _, err := clean.Stop(); err != nil {
		t.Errorf("stop of a process that ends in order: %v", err)
	}
	if _, err := process(t, "exec sleep 60").Stop(); err == nil || !strings.Contains(err.Error(), "orderly stop of victim") {
		t.Errorf("stop of a process that dies of the signal: %v, expected an error", err)
	}
}

func TestReadyFailsAtOnceForTheDead(t *testing.T) {
	err := process(t, "exit 3").Ready(t.Context())
	if err == nil || !strings.Contains(err.Error(), "it has ended") {
		t.Errorf("Ready: %v, expected to hear that the process has ended", err)
	}
}

func said(t *testing.T, p *Process) bool {
	t.Helper()
	text, err := os.ReadFile(p.Log)
	return err == nil && len(text) > 0
}
