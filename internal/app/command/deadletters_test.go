package command

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

func TestDeadLettersCommandLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ out, err string }{
		"":                          {err: "expected list, show or redrive"},
		"-h":                        {out: "dead-letters redrive ID"},
		"lst":                       {err: `unknown command "lst"`},
		"list -h":                   {out: "-since"},
		"redrive --help":            {out: "events a second"},
		"list 3-17":                 {err: `unexpected argument "3-17"`},
		"list --since tomorrow":     {err: `"tomorrow": expected a duration back such as 24h`},
		"list --since 2999-01-01":   {err: "not in the future"},
		"list --reason bored":       {err: "--reason=bored: expected one of [status_3xx status_4xx"},
		"list --destination Big":    {err: "--destination=Big: expected"},
		"list --jsno":               {err: "flag provided but not defined: -jsno"},
		"show":                      {err: "found 0 ids, expected one"},
		"show 3-17 3-18":            {err: "found 2 ids, expected one"},
		"show 3/17":                 {err: `"3/17": expected the id of a dead letter, <partition>-<offset>`},
		"show --destination crm":    {err: "flag provided but not defined"},
		"redrive":                   {err: "expected ids, --destination, --reason or --since; --all redrives every dead letter"},
		"redrive --dry-run":         {err: "--all redrives every dead letter"},
		"redrive 3-17 --all":        {err: "found both"},
		"redrive 3-17 --reason tls": {err: "found both"},
		"redrive 3-17 x --dry-run":  {err: `"x": expected the id`},
		"redrive --all --rate 0":    {err: `invalid value "0" for flag -rate: expected a whole number of events a second, 1 to`},
		"redrive --all --rate fast": {err: `invalid value "fast" for flag -rate: expected a whole number of events a second, 1 to`},
		"redrive --all --again=x":   {err: `"x": expected a duration back`},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			out, err := typed(t, strings.Fields("dead-letters "+line)...)
			if !strings.Contains(out, want.out) {
				t.Errorf("printed %q, want %q in it", out, want.out)
			}
			if (err != nil) != (want.err != "") || err != nil && !strings.Contains(err.Error(), want.err) {
				t.Errorf("error %v, want %q", err, want.err)
			}
		})
	}
}

func TestDeadLetterFlags(t *testing.T) {
	t.Parallel()
	read := func(args ...string) (*deadLetterFlags, time.Time) {
		t.Helper()
		f := newDeadLetterFlags(flag.NewFlagSet("redrive", flag.ContinueOnError))
		f.selecting()
		again := f.again()
		ids, err := parse(f.FlagSet, args)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.selection(ids); err != nil {
			t.Fatal(err)
		}
		return f, *again
	}
	f, again := read("0-1", "--again", "3-17", "0-1")
	if got := fmt.Sprint(f.selected.IDs); got != "[0-1 3-17]" || again.IsZero() || f.now.Sub(again) > time.Millisecond {
		t.Errorf("ids %s, again %v", got, again)
	}
	f, again = read("--since", "2h", "--again=2026-01-02T03:04:05.678Z", "--destination=crm", "--reason", "tls")
	if back := f.now.Sub(f.selected.Since); back.Round(time.Second) != 2*time.Hour || f.selected.Destination != "crm" || f.selected.Reason != schemas.ReasonTLS {
		t.Errorf("selected %+v", f.selected)
	}
	if want := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC); !again.Equal(want) {
		t.Errorf("again before %v, want %v", again, want)
	}
	if _, again = read("--since", "2h"); !again.IsZero() {
		t.Errorf("again before %v without being asked", again)
	}
}
