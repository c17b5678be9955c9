package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/testkit"
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
			out, err := command(t, append([]string{"dead-letters"}, strings.Fields(line)...)...)
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
	parse := func(args ...string) (*deadLetterFlags, time.Time) {
		t.Helper()
		f := newDeadLetterFlags("redrive")
		f.selecting()
		again := f.again()
		if _, err := f.parse(args, nil); err != nil {
			t.Fatal(err)
		}
		return f, *again
	}
	f, again := parse("0-1", "--again", "3-17", "0-1")
	if got := fmt.Sprint(f.selected.IDs); got != "[0-1 3-17]" || again.IsZero() || f.now.Sub(again) > time.Millisecond {
		t.Errorf("ids %s, again %v", got, again)
	}
	f, again = parse("--since", "2h", "--again=2026-01-02T03:04:05.678Z", "--destination=crm", "--reason", "tls")
	if back := f.now.Sub(f.selected.Since); back.Round(time.Second) != 2*time.Hour || f.selected.Destination != "crm" || f.selected.Reason != schemas.ReasonTLS {
		t.Errorf("selected %+v", f.selected)
	}
	if want := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC); !again.Equal(want) {
		t.Errorf("again before %v, want %v", again, want)
	}
	if _, again = parse("--since", "2h"); !again.IsZero() {
		t.Errorf("again before %v without being asked", again)
	}
}

// TestDeadLettersAreRedriven is what a person does after a receiver was mended.
// It sets the environment, as a shell does.
func TestDeadLettersAreRedriven(t *testing.T) {
	receiver := testkit.NewReceiver(t)
	receiver.Respond(testkit.Statuses(http.StatusBadRequest))
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file)
	r := start(t, env)
	if env["KAFKA_BROKERS"] == "" {
		t.Setenv("BROKER_ADDR", find(t, r.screen.String(), `embedded broker\s+([^,]+),`))
	} else {
		t.Setenv("KAFKA_BROKERS", env["KAFKA_BROKERS"])
	}
	if out := deadLetters(t, "list"); out != "no dead letters\n" {
		t.Errorf("with none list prints %q", out)
	}
	if status := r.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"Signed Up","messageId":"m1"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d", status)
	}
	id := awaitDeadLetter(t)
	if shown := deadLetters(t, "show", id); !strings.Contains(shown, `"event": "Signed Up"`) {
		t.Errorf("show printed\n%s", shown)
	}
	receiver.Respond(nil)
	before := len(receiver.Deliveries())
	if planned := deadLetters(t, "redrive", "--destination", "books", "--dry-run"); !strings.Contains(planned, "would redrive 1 of 1") {
		t.Errorf("the dry run printed\n%s", planned)
	}
	if done := deadLetters(t, "redrive", id); !strings.Contains(done, "redriven 1 of 1") {
		t.Errorf("redrive printed\n%s", done)
	}
	if got := receiver.Wait(t, before+1)[before].JSON(t); got["messageId"] != "m1" {
		t.Errorf("delivered %v, want m1", got)
	}
	if out, err := command(t, "dead-letters", "redrive", id); err == nil || !strings.Contains(err.Error(), "1 was redriven before") {
		t.Errorf("a second redrive: %v, printed %q, want a refusal", err, out)
	}
	if listed := deadLetters(t, "list", "--json"); !strings.Contains(listed, "redrivenAt") {
		t.Errorf("afterwards list prints %s", listed)
	}
	for _, count := range []string{
		`anabranch_webhook_sink_deliveries_total{destination="books",result="delivered"} 1`,
		`anabranch_webhook_sink_deliveries_total{destination="books",result="dead"} 1`,
	} {
		testkit.Until(t, func() bool { return strings.Contains(r.get(t, "/metrics"), count) }, count)
	}
	if got := len(receiver.Deliveries()); got != before+1 {
		t.Errorf("%d deliveries, want %d: the dry run or the refused redrive sent something", got, before+1)
	}
}

// awaitDeadLetter waits for the call m1 to be given up and returns the id that list
// prints for programs.
func awaitDeadLetter(t *testing.T) string {
	t.Helper()
	var printed string
	testkit.Until(t, func() bool {
		printed = deadLetters(t, "list", "--json", "--reason", "status_4xx", "--since", "1h")
		return printed != ""
	}, "the event to be in dead-letters")
	var line map[string]any
	if err := json.Unmarshal([]byte(printed), &line); err != nil || line["destination"] != "books" || line["messageId"] != "m1" || line["redrivenAt"] != nil {
		t.Fatalf("list --json printed %s (%v)", printed, err)
	}
	return fmt.Sprint(line["id"])
}

// deadLetters runs a command below dead-letters that is to succeed.
func deadLetters(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t, append([]string{"dead-letters"}, args...)...)
	if err != nil {
		t.Fatalf("dead-letters %v: %v\n%s", args, err, out)
	}
	return out
}
