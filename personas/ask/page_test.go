package ask

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// today has a virtual clock show times of today.
var today = strings.NewReplacer("2000-01-01 00:0", "2026-11-21 08:3")

// TestThePage: docs/personas.md shows what is printed.
func TestThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/personas.md")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := engine.Definitions{
			Audiences: []engine.Audience{audience(t, `{"id":"big_spenders","name":"Big spenders","when":{"all":[{"did":"Order Completed","take":"sum","of":"total","is":{"gte":500},"within":"90d"},{"trait":"plan","is":"pro"}]}}`)},
			Traits:    []engine.Trait{trait(t, `{"id":"orders","name":"Orders","take":"count","did":"Order Completed"}`)},
		}
		b := newBench(t, testkit.Virtual(t), d)
		b.start(t)
		virtual.Sleep(3 * time.Second)
		for _, user := range []string{"ann", "bob", "cid"} {
			b.send(t, b.identify(user, `{"plan":"pro"}`), b.track(user, "Order Completed", `{"total":260}`))
			virtual.Sleep(time.Minute)
		}
		b.send(t, b.track("ann", "Order Completed", `{"total":250}`))
		settle()
		next := d
		next.Audiences = []engine.Audience{audience(t, `{"id":"big_spenders","name":"Big spenders","when":{"all":[{"did":"Order Completed","take":"sum","of":"total","is":{"gte":250},"within":"90d"},{"trait":"plan","is":"pro"}]}}`)}
		for command, show := range map[string]func(io.Writer) error{
			"list": func(w io.Writer) error {
				return answerOf(w, PrintList, func() ([]Summary, error) { return List(t.Context(), &b.Log) })
			},
			"explain big_spenders bob --not": func(w io.Writer) error {
				return answerOf(w, PrintExplanation, func() (*Explanation, error) { return Explain(t.Context(), &b.Log, "big_spenders", "bob", true) })
			},
			"profile ann": func(w io.Writer) error {
				return answerOf(w, PrintProfile, func() (*Profile, error) { return Look(t.Context(), &b.Log, "ann") })
			},
			"preview -f workspace.yaml": func(w io.Writer) error {
				return answerOf(w, PrintPreview, func() (*Preview, error) { return Changes(t.Context(), &b.Log, Workspace{defined: next}, "") })
			},
		} {
			var out bytes.Buffer
			if err := show(&out); err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			want := "$ anabranch personas " + command + "\n" + today.Replace(out.String())
			if !strings.Contains(string(page), want) {
				t.Errorf("docs/personas.md lacks\n```text\n%s", want)
			}
		}
	})
}

func answerOf[T any](w io.Writer, show func(io.Writer, T) error, ask func() (T, error)) error {
	answer, err := ask()
	if err != nil {
		return err
	}
	return show(w, answer)
}
