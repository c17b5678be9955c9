package driver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

func job(tb testing.TB, run driver.Run) (*driver.Job, *bytes.Buffer) {
	tb.Helper()
	dir := tb.TempDir()
	log := new(bytes.Buffer)
	return &driver.Job{
		Folder: dir, Endpoint: "http://127.0.0.1:1", WriteKey: "wk", Run: run,
		Calls: scenario.Crowd(2), Scenario: filepath.Join(dir, "scenario.json"), Log: log,
	}, log
}

func TestAProgramIsToldWhatToDo(t *testing.T) {
	j, log := job(t, driver.Run{Mode: driver.Each, Gzip: true})
	if err := j.Write(); err != nil {
		t.Fatal(err)
	}
	d := driver.Driver{Command: []string{"sh", "-c", `echo "$ENDPOINT $WRITE_KEY $GZIP $MODE"; pwd; cat "$SCENARIO"`}}
	if err := d.Speak(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(log.String(), "\n")
	where, text, _ := strings.Cut(rest, "\n")
	if first != "http://127.0.0.1:1 wk on each" || where != j.Folder {
		t.Errorf("it said %q in %q", first, where)
	}
	var calls []scenario.Call
	if err := json.Unmarshal([]byte(text), &calls); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(j.Calls, calls); diff != "" {
		t.Errorf("its calls (-want +got):\n%s", diff)
	}
}

func TestGzipIsOffUnlessTold(t *testing.T) {
	j, log := job(t, driver.Run{Mode: driver.Batch})
	d := driver.Driver{Command: []string{"sh", "-c", `echo "$GZIP $MODE"`}}
	if err := d.Speak(t.Context(), j); err != nil || log.String() != "off batch\n" {
		t.Errorf("it said %q, %v", log, err)
	}
}

func TestAProgramOfTheFolderIsRunByItsPathThere(t *testing.T) {
	j, log := job(t, driver.Run{})
	if err := os.WriteFile(filepath.Join(j.Folder, "program"), []byte("#!/bin/sh\necho here\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := driver.Driver{Command: []string{"./program"}}
	if err := d.Speak(t.Context(), j); err != nil || log.String() != "here\n" {
		t.Errorf("it said %q, %v", log, err)
	}
}

func TestAProgramThatFailsIsAnError(t *testing.T) {
	j, _ := job(t, driver.Run{})
	d := driver.Driver{Command: []string{"sh", "-c", "exit 3"}}
	if err := d.Speak(t.Context(), j); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v", err)
	}
}

// The child that holds the output open would keep the run from ending.
func TestAProgramIsEndedWithItsChildren(t *testing.T) {
	j, _ := job(t, driver.Run{})
	pipe, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer told.Close()
	j.Log = told
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		pipe.Read(make([]byte, 1)) // they have started
		cancel()
	}()
	d := driver.Driver{Command: []string{"sh", "-c", "(echo started; exec sleep 600) & wait"}}
	if err := d.Speak(ctx, j); err == nil || ctx.Err() != context.Canceled {
		t.Errorf("error %v, context %v", err, ctx.Err())
	}
}

func TestAStartOfItsOwnGoesBeforeTheCommand(t *testing.T) {
	j, log := job(t, driver.Run{})
	d := driver.Driver{
		Command: []string{"sh", "-c", "echo the command"},
		Start: func(ctx context.Context, j *driver.Job) error {
			return driver.Exec(ctx, j, []string{"sh", "-c", `echo "$MORE"`}, "MORE=told")
		},
	}
	if err := d.Speak(t.Context(), j); err != nil || log.String() != "told\n" {
		t.Errorf("it said %q, %v", log, err)
	}
}

func TestNamesOfRuns(t *testing.T) {
	for want, r := range map[string]driver.Run{
		"batch":          {Mode: driver.Batch},
		"each-gzip":      {Mode: driver.Each, Gzip: true},
		"batch-gzip-cut": {Mode: driver.Batch, Gzip: true, Tag: "cut"},
	} {
		if got := r.Name(); got != want {
			t.Errorf("name %q, expected %q", got, want)
		}
	}
}

func TestTheCrowdIsForBatches(t *testing.T) {
	d := driver.Driver{Limits: scenario.Limits{Types: []string{"screen"}}}
	count := func(m driver.Mode) int {
		t.Helper()
		calls, err := d.Calls(&driver.Run{Mode: m})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if c.Type == "screen" {
				t.Errorf("%s: the SDK has no screen", m)
			}
		}
		return len(calls)
	}
	each, batch, exit := count(driver.Each), count(driver.Batch), count(driver.Exit)
	if batch-each <= 250 || exit != batch || each < 15 {
		t.Errorf("%d calls each, %d in batches, %d at the exit", each, batch, exit)
	}
}
