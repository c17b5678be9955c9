package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/anabranch/anabranch/test/sdktest/books"
	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/front"
	"github.com/anabranch/anabranch/test/sdktest/judge"
	"github.com/anabranch/anabranch/test/sdktest/pipeline"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// trial is one run of one driver.
type trial struct {
	driver *driver.Driver
	run    driver.Run
	folder string // of the installed copy
	err    error  // of the installation, or of the run

	calls        []scenario.Call
	requests     []front.Request
	injected     []front.Fault
	left         int // faults that nothing met
	began, ended time.Time
}

func (t *trial) name() string { return t.driver.Name + "/" + t.run.Name() }

// source is the id of its source in the workspace.
func (t *trial) source() string { return strings.ReplaceAll(t.name(), "/", "-") }

// patience is how long an SDK may take. Java's first pause after a failure is 15
// seconds and may be twice that.
const patience = 3 * time.Minute

// speak runs the driver against the product, through a front of its own. Files
// that it leaves begin with prefix.
func (t *trial) speak(ctx context.Context, endpoint, prefix string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if t.calls, err = t.driver.Calls(&t.run); err != nil {
		return err
	}
	f, err := front.Start(endpoint, t.run.Faults)
	if err != nil {
		return err
	}
	log, err := create(prefix + ".log")
	if err != nil {
		return errors.Join(err, f.Close())
	}
	defer log.Close() //nolint:errcheck // the program has ended
	job := &driver.Job{
		Folder: t.folder, Endpoint: f.URL, WriteKey: pipeline.WriteKey(t.source()),
		Run: t.run, Calls: t.calls, Scenario: prefix + ".json", Log: log,
	}
	if err = job.Write(); err != nil {
		return errors.Join(err, f.Close())
	}
	t.began = time.Now()
	err = t.driver.Speak(ctx, job)
	// A page that was closed leaves requests behind that nobody waits for.
	err = errors.Join(err, f.Shutdown(ctx))
	t.ended = time.Now()
	t.requests, t.injected, t.left = f.Requests(), f.Injected(), f.Left()
	return err
}

// judge returns all that is wrong; nothing when the trial went as it should.
func (t *trial) judge(b *books.Books) []string {
	var wrong []string
	if t.err != nil {
		wrong = append(wrong, t.err.Error())
	}
	if t.began.IsZero() {
		return wrong
	}
	if t.left > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %d faults met no request", t.left, len(t.run.Faults)))
	}
	wrong = append(wrong, t.sent()...)
	for _, d := range pipeline.Destinations(t.source()) {
		c := judge.Case{Calls: t.calls, Deliveries: b.Deliveries(d), Adds: t.driver.Adds, Began: t.began, Ended: t.ended}
		for _, text := range c.Judge() {
			wrong = append(wrong, d+": "+text)
		}
	}
	return wrong
}

// sent judges the requests themselves: whether they were compressed as they
// should be, and whether the calls that integrations maps filter were sent at
// all.
func (t *trial) sent() []string {
	var wrong []string
	var all bytes.Buffer
	for i := range t.requests {
		r := &t.requests[i]
		text, err := r.Text()
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		all.Write(text)
		if r.CarriesCalls() && r.Gzipped() != t.run.Gzip {
			wrong = append(wrong, fmt.Sprintf("request %d: compressed is %t, expected %t", i, r.Gzipped(), t.run.Gzip))
		}
	}
	for i := range t.calls {
		if c := &t.calls[i]; c.Filtered && !bytes.Contains(all.Bytes(), []byte(`"`+c.Mark+`"`)) {
			wrong = append(wrong, c.Mark+": not sent")
		}
	}
	return wrong
}

// line is the trial's line of the report.
func (t *trial) line(wrong []string) string {
	result := "ok"
	if len(wrong) > 0 {
		result = "FAILED"
	}
	return fmt.Sprintf("%-6s %-38s %3d calls in %3d requests, injected: %-14s %6s", result, t.name(),
		len(t.calls), t.carrying(), t.faults(), t.ended.Sub(t.began).Round(100*time.Millisecond))
}

// carrying counts the requests that carried calls.
func (t *trial) carrying() int {
	n := 0
	for i := range t.requests {
		if t.requests[i].CarriesCalls() {
			n++
		}
	}
	return n
}

func (t *trial) faults() string {
	if len(t.injected) == 0 {
		return "none"
	}
	names := make([]string, len(t.injected))
	for i, f := range t.injected {
		names[i] = f.String()
	}
	return strings.Join(names, " ")
}
