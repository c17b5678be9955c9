package attempt

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/answers"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// saying is a receiver that answers with a status and a body, after a while.
func saying(code int, body string) receiver {
	return func() string {
		virtual.Sleep(17 * time.Millisecond)
		return fmt.Sprintf("HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n%s", code, len(body), body)
	}
}

// keeping has a booth keep answers in a book.
func keeping(book *answers.Book) func(*Options) {
	return func(o *Options) { o.Answers = book }
}

// TestFailedAnswersAreKept: of each endpoint by itself, without its secrets, and that of the
// endpoint whose failure is told is the attempt's. No line of the log says anything of them.
func TestFailedAnswersAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := answers.New(answers.MostBytes)
		var log bytes.Buffer
		b := newBooth(t, map[string]receiver{
			"a": saying(400, "zqAnswer: bad key zqSecretKey"), "b": saying(503, strings.Repeat("zqAnswer ", 1000)), "c": always(200),
		}, keeping(book), func(o *Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		d := receiving("a", "b")
		d.Endpoints[0].Headers = []workspace.Header{{Name: "X-Key", Value: "zqSecretKey"}}
		o := b.Attempt(t.Context(), d, nil, []byte(purchase), false)
		if o.Verdict != outcome.Retry || o.Answer == nil || o.Answer.Status != 503 || len(o.Answer.Body) != 1024 {
			t.Errorf("outcome %+v, answer %+v", o, o.Answer)
		}
		of := book.Of(d)
		want := []answers.Answer{{At: time.Now().UTC(), MessageID: "m-1", Status: 400, MS: 17, Body: "zqAnswer: bad key [redacted]"}}
		if diff := cmp.Diff(want, of[0].Answers); diff != "" {
			t.Errorf("of a (-want +got):\n%s", diff)
		}
		if got := of[1].Answers; len(got) != 1 || got[0].Body != strings.Repeat("zqAnswer ", 1000)[:1024] {
			t.Errorf("of b %+v", got)
		}
		if o := b.Attempt(t.Context(), receiving("c"), nil, []byte(purchase), false); o.Answer != nil || len(book.Of(receiving("c"))[0].Answers) != 0 {
			t.Errorf("of a delivery %+v is kept", o.Answer)
		}
		if strings.Contains(log.String(), "zq") {
			t.Errorf("the log quotes an answer:\n%s", log.String())
		}
	})
}

// TestWhatWasKeptOfOneEventIsNotOfAnother: an endpoint that is down answers nothing to the
// events that are withheld from it.
func TestWhatWasKeptOfOneEventIsNotOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := answers.New(answers.MostBytes)
		b := newBooth(t, map[string]receiver{"a": saying(503, "no")}, keeping(book))
		for range 30 {
			o := b.Attempt(t.Context(), receiving("a"), nil, []byte(purchase), false)
			if (o.Verdict == outcome.Withheld) != (o.Answer == nil) {
				t.Fatalf("outcome %+v with answer %+v", o, o.Answer)
			}
		}
		if n := len(book.Of(receiving("a"))[0].Answers); n < 5 || n >= 30 {
			t.Errorf("%d answers are kept", n)
		}
	})
}

func TestAnswersThatAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooth(t, map[string]receiver{"a": saying(400, "no")})
		if o := b.Attempt(t.Context(), receiving("a"), nil, []byte(purchase), false); o.Answer != nil {
			t.Errorf("answer %+v", o.Answer)
		}
	})
}
