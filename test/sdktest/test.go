package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/anabranch/anabranch/test/sdktest/books"
	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/pipeline"
	"github.com/anabranch/anabranch/test/storm/child"
)

// test is one call of the program.
type test struct {
	dir     string // for its own files
	sources string // the drivers' folders
	cache   string // where they are installed
	binary  string // of the product; empty until it is built
	width   int    // how many runs at once

	books    *books.Books
	pipeline *pipeline.Pipeline
}

// run installs the SDKs, has all of them speak, and judges when everything that
// was accepted has been delivered.
func (t *test) run(ctx context.Context, drivers []driver.Driver) error {
	trials, err := t.install(ctx, drivers)
	if err != nil {
		return err
	}
	if err = t.start(ctx, trials); err != nil {
		return err
	}
	defer t.books.Close()
	t.speak(ctx, trials)
	err = errors.Join(t.pipeline.Drain(ctx), t.pipeline.Stop())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(err, t.report(trials))
}

// install prepares a trial for each run of each driver. Installations go one at a
// time: package managers use all there is.
func (t *test) install(ctx context.Context, drivers []driver.Driver) (trials []*trial, err error) {
	if t.cache, err = filepath.Abs(t.cache); err != nil {
		return nil, err
	}
	for i := range drivers {
		d := &drivers[i]
		began := time.Now()
		folder, err := d.Install(ctx, t.sources, t.cache)
		if took := time.Since(began); took > time.Second {
			fmt.Printf("%s: installed in %s\n", d.Name, took.Round(time.Second))
		}
		for _, r := range d.Runs {
			trials = append(trials, &trial{driver: d, run: r, folder: folder, err: err})
		}
	}
	return trials, nil
}

// installed installs the SDKs, and says which could not be.
func (t *test) installed(ctx context.Context, drivers []driver.Driver) error {
	trials, err := t.install(ctx, drivers)
	for _, trial := range trials {
		err = errors.Join(err, trial.err)
	}
	return err
}

// start starts the product with a source for each trial.
func (t *test) start(ctx context.Context, trials []*trial) (err error) {
	sources := make([]string, len(trials))
	for i, trial := range trials {
		sources[i] = trial.source()
	}
	if t.binary == "" {
		if t.binary, err = child.Build(ctx, t.dir); err != nil {
			return err
		}
	}
	t.books = books.Open(pipeline.Secret)
	if t.pipeline, err = pipeline.Start(ctx, t.binary, t.dir, t.books.URL, sources); err != nil {
		t.books.Close()
	}
	return err
}

// speak lets the trials happen, some at once: most of their time is spent in the
// SDKs' pauses.
func (t *test) speak(ctx context.Context, trials []*trial) {
	var all sync.WaitGroup
	slots := make(chan struct{}, t.width)
	fmt.Printf("%d runs, %d at a time\n", len(trials), t.width)
	for _, trial := range trials {
		if trial.err != nil {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			trial.err = trial.speak(ctx, t.pipeline.URL, filepath.Join(t.dir, trial.source()))
		})
	}
	all.Wait()
}

// report prints a line per trial. What is wrong with one stands below its line.
func (t *test) report(trials []*trial) error {
	var failed []string
	for _, trial := range trials {
		wrong := trial.judge(t.books)
		fmt.Println(trial.line(wrong))
		for _, text := range shorten(wrong) {
			fmt.Println("    " + text)
		}
		if len(wrong) > 0 {
			failed = append(failed, trial.name())
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

// shorten keeps what is wrong readable: where hundreds of calls are lost, the
// first ones tell the story.
func shorten(wrong []string) []string {
	const most = 12
	if len(wrong) <= most {
		return wrong
	}
	return append(wrong[:most:most], fmt.Sprintf("and %d more", len(wrong)-most))
}

// create makes the file that takes what a program says.
func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // in our own directory
}
