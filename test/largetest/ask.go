package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/test/storm/child"
)

// question is a page, below /console, or a command.
type question struct {
	name string
	page string
	args []string
}

// pages are all of the console but those of what was begun from it. Those that read most come
// last: a process does not give memory back at once.
func (l *lab) pages() []question {
	some := destination(l.destinations / 2)
	one := url.QueryEscape(user(l.users / 2))
	return []question{
		{name: "Overview", page: "/"},
		{name: "Destinations", page: "/destinations"},
		{name: "Destinations, by name", page: "/destinations?q=999&only=waiting"},
		{name: "One destination", page: "/destination?id=" + some},
		{name: "Workspace", page: "/workspace"},
		{name: "Workspace, destinations", page: "/workspace?kind=destination&page=100"},
		{name: "Apply a workspace file", page: "/workspace/plan"},
		{name: "History of the workspace", page: "/workspace/history"},
		{name: "Violations of tracking plans", page: "/violations"},
		{name: "Size of an audience over time", page: "/growth?key=buyers"},
		{name: "Deletions", page: "/deletions"},
		{name: "Jobs", page: "/jobs"},
		{name: "Replays and imports", page: "/replays"},
		{name: "One replay", page: "/replay?id=" + l.run},
		{name: "Live, the newest calls", page: "/live"},
		{name: "One call", page: "/call?at=0-100"},
		{name: "Events of a user", page: "/events?user=" + one},
		{name: "Events of a destination", page: "/events?destination=" + some},
		{name: "One event, of a known user", page: fmt.Sprintf("/event?id=0193f1b2-7c60-7d0a-9d3e-%012x&user=%s", l.users/2, one)},
		{name: "One event", page: fmt.Sprintf("/event?id=0193f1b2-7c60-7d0a-9d3e-%012x", l.users/2)},
		{name: "One dead letter", page: "/dead-letter?id=0-100"},
		{name: "Dead letters of an hour", page: "/dead-letters?since=1h"},
		{name: "Dead letters of a destination", page: "/dead-letters?destination=" + some},
		{name: "Dead letters", page: "/dead-letters"},
		{name: "Dead letters, by text", page: "/dead-letters?q=" + one},
		{name: "Redrive", page: "/redrive?since=24h"},
		{name: "Plan of a replay to one", page: "/replay/plan?from=10m&destination=" + some},
		{name: "Plan of a replay to all", page: "/replay/plan?from=10m"},
		{name: "One user", page: "/profile?user=" + one},
		{name: "Explain", page: "/explain?key=regulars&user=" + one},
		{name: "Audiences and traits", page: "/personas"},
		{name: "One of them", page: "/persona?key=buyers"},
		{name: "Members", page: "/members?key=buyers"},
		{name: "What was told of a user", page: "/history?name=" + one},
		{name: "What was told", page: "/history?name=buyers"},
		{name: "Resync", page: "/resync?key=buyers&destination=" + some},
		{name: "Preview", page: "/preview?written=" + url.QueryEscape("- {id: buyers, when: {did: "+bought+", within: 1d}}")},
		{name: "Check", page: "/check?run=1"},
	}
}

// commands are those that show the same.
func (l *lab) commands() (all []question) {
	some, one := destination(l.destinations/2), user(l.users/2)
	for _, line := range []string{
		"status", "status --json", "doctor", "dead-letters list", "dead-letters list --destination " + some, "dead-letters show 0-100",
		"dead-letters redrive --all --dry-run", "personas list", "personas show buyers", "personas members --limit 50 buyers", "personas profile " + one,
		"personas explain regulars " + one, "personas history buyers", "personas check", "replay list", "replay plan --from 10m --destination " + some,
		"trace --last 50 --destination " + some,
	} {
		all = append(all, question{name: "`" + line + "`", args: strings.Fields(line)})
	}
	return all
}

func (l *lab) ask(ctx context.Context) error {
	if err := l.findRun(ctx); err != nil {
		return err
	}
	p, err := l.process(ctx, "ingest")
	if err != nil {
		return err
	}
	defer p.Discard()
	var looks []look
	for _, q := range l.pages() {
		if !l.wanted(q.name) {
			continue
		}
		one, failure := lookAt(ctx, p, q)
		if failure != nil {
			return fmt.Errorf("%s: %w", q.name, failure)
		}
		fmt.Fprintln(os.Stderr, "largetest:", one.row())
		looks = append(looks, one)
	}
	if _, err = p.Stop(); err != nil {
		return err
	}
	var runs []ran
	for _, q := range l.commands() {
		if !l.wanted(q.name) {
			continue
		}
		one := l.time(ctx, q)
		fmt.Fprintln(os.Stderr, "largetest:", one.row())
		runs = append(runs, one)
	}
	printPages(os.Stdout, looks)
	printCommands(os.Stdout, runs)
	return ctx.Err()
}

func (l *lab) wanted(name string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(l.only))
}

// findRun finds the id of the replay.
func (l *lab) findRun(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, l.program, "replay", "list", "--json") //nolint:gosec // built by us
	cmd.Env = append(os.Environ(), l.env()...)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list replays: %w", err)
	}
	if m := regexp.MustCompile(`"id": ?"([^"]+)"`).FindSubmatch(out); m != nil {
		l.run = string(m[1])
		return nil
	}
	return errors.New("there is no replay: fill the brokers first")
}

// look is what a page took: its first answer, and the last one, where it came back by itself
// until it had all there was to show.
type look struct {
	question

	first, whole time.Duration // of the first answer: until the first byte, and until the last
	bytes        int
	said         string // by pages that were not complete: the last of them
	answered     time.Duration
	last         int // bytes of the last page
	problem      string
	slowest      time.Duration // answer of all
	peak         int64         // memory of the process meanwhile, in bytes
}

var (
	askingText  = regexp.MustCompile(`<p class="asking">(.*?)</p>`)
	problemText = regexp.MustCompile(`<p class="problem" role="alert">(.*?)</p>`)
)

// soon is when a page comes back that waits for an answer.
const soon = time.Second

func lookAt(ctx context.Context, p *child.Process, q question) (l look, err error) {
	l.question = q
	if err = p.ResetPeak(); err != nil {
		return l, err
	}
	begun := time.Now()
	back := time.NewTicker(soon)
	defer back.Stop()
	for n := 0; ; n++ {
		first, whole, page, failure := get(ctx, "http://"+p.Admin+"/console"+q.page)
		if failure != nil {
			return l, failure
		}
		if n == 0 {
			l.first, l.whole, l.bytes = first, whole, len(page)
		}
		l.slowest, l.last, l.answered = max(l.slowest, whole), len(page), time.Since(begun)
		if m := problemText.FindSubmatch(page); m != nil {
			l.problem = string(m[1])
		}
		m := askingText.FindSubmatch(page)
		if m == nil {
			break
		}
		l.said = string(m[1])
		select {
		case <-back.C:
		case <-ctx.Done():
			return l, ctx.Err()
		}
	}
	l.peak, err = p.Peak()
	return l, err
}

func get(ctx context.Context, target string) (first, whole time.Duration, page []byte, err error) {
	begun := time.Now()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Since(begun) }})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return 0, 0, nil, err
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, 0, nil, err
	}
	defer func() { _ = w.Body.Close() }()
	page, err = io.ReadAll(w.Body)
	if err == nil && w.StatusCode != http.StatusOK {
		err = fmt.Errorf("it was answered %s: %s", w.Status, page)
	}
	return first, time.Since(begun), page, err
}

// ran is what a command took.
type ran struct {
	question

	first, whole time.Duration // until the first byte of its output, and until its end
	bytes        int64
	peak         int64 // memory, in bytes
	problem      string
}

// clocked counts what is written, and knows when the first of it was.
type clocked struct {
	begun time.Time
	first time.Duration
	bytes int64
}

// Write implements [io.Writer].
func (c *clocked) Write(text []byte) (int, error) {
	if c.bytes == 0 {
		c.first = time.Since(c.begun)
	}
	c.bytes += int64(len(text))
	return len(text), nil
}

func (l *lab) time(ctx context.Context, q question) ran {
	out, said := clocked{begun: time.Now()}, new(bytes.Buffer)
	cmd := exec.CommandContext(ctx, l.program, q.args...) //nolint:gosec // built by us, with arguments of the table
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), l.env()...), &out, said
	err := cmd.Run()
	done := ran{question: q, first: out.first, whole: time.Since(out.begun), bytes: out.bytes}
	if err != nil {
		done.problem = err.Error() + ": " + said.String()
	}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		done.peak = used.Maxrss << 10
	}
	return done
}
