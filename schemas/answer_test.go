package schemas_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/anabranch/anabranch/schemas"
)

// header is the value of the header for an answer.
func header(t *testing.T, answer []byte) string {
	t.Helper()
	h := schemas.Headers{Answer: answer}
	for key, value := range h.All() {
		if key != schemas.HeaderAnswer {
			t.Fatalf("header %s", key)
		}
		return string(value)
	}
	return ""
}

func TestAnswersAreLegible(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"error":"no such \"user\""}`: `{"error":"no such \\"user\\""}`,
		"it's\tso\r\nas \\":            `it's\tso\r\nas \\`,
		"é 🛶 \x00\x1b[31m\xff\u202e":   `é 🛶 \x00\x1b[31m\xff\u202e`,
	} {
		if got := header(t, []byte(answer)); got != want {
			t.Errorf("%q is written as %s, want %s", answer, got, want)
		}
	}
}

// What a receiver said is no reason not to read a record.
func TestWhatIsNoAnswerIsPassedOver(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", `\`, `\q`, `a\x0`, strings.Repeat("x", schemas.MaxAnswerBytes+1), strings.Repeat("x", 5*schemas.MaxAnswerBytes)} {
		h, err := schemas.ParseHeaders(func(yield func(string, []byte) bool) { yield(schemas.HeaderAnswer, []byte(value)) })
		if err != nil || h.Answer != nil {
			t.Errorf("%.20q is read as %.20q, %v", value, h.Answer, err)
		}
	}
}

// Whatever an endpoint answers: its header is text that no terminal acts on, of bounded
// length, and says again what was answered, up to where it is cut.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"", "{}", `"\"`, `\\"\`, "'\x00\n\r\t\x7f\u0085\u2028\ufeff\ufffd", "\xff\xc3", strings.Repeat("\x00", 2000), strings.Repeat("🛶", 257)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		text := header(t, answer)
		if len(text) > 4*schemas.MaxAnswerBytes || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%q is written as %q", answer, text)
		}
		h := schemas.Headers{Answer: answer}
		again, err := schemas.ParseHeaders(h.All())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(again.Answer); !bytes.HasPrefix(answer, again.Answer) || n < min(len(answer), schemas.MaxAnswerBytes-utf8.UTFMax+1) {
			t.Fatalf("%q is read again as %q", answer, again.Answer)
		}
	})
}
