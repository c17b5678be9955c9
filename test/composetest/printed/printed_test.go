package printed

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/receiver"
)

func readAll(t *testing.T, text string) ([]Delivery, error) {
	t.Helper()
	var got []Delivery
	err := Read(iotest.OneByteReader(strings.NewReader(text)), func(d Delivery) { got = append(got, d) })
	return got, err
}

// TestReadWhatTheReceiverPrints has the receiver itself print: a change of its
// format must not go unnoticed.
func TestReadWhatTheReceiverPrints(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	out.WriteString("webhook receiver on http://[::]:8082/\n")
	receiver := receiver.New(&out, "secret", false)
	for _, body := range []string{
		`{"messageId":"run/a/0/1/2","type":"track","event":"a  signature ok","properties":{"text":"` + strings.Repeat("long ", 40) + `"}}`,
		`{"type":"delete","userId":"  signature \"","list":[` + strings.Repeat("1000000,", 40) + `0]}`,
	} {
		receiver.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
	}
	signed := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{}`))
	signed.Header.Set("X-Signature", "5d61605c3feea9799210ddcb71307d4ba264225f") // {} under "secret"
	receiver.ServeHTTP(httptest.NewRecorder(), signed)

	got, err := readAll(t, out.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	want := []Delivery{
		{Signature: "BAD: there is no X-Signature header", MessageID: "run/a/0/1/2"},
		{Signature: "BAD: there is no X-Signature header"},
		{Signature: "ok"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s\nin\n%s", diff, out.String())
	}
}

func TestReadPassesOver(t *testing.T) {
	t.Parallel()
	const one = "10:00:00.000Z  track  user u1  signature ok\n  {\n    \"messageId\": \"a\"\n  }\n\n"
	for name, text := range map[string]string{
		"other lines before":   "a log line\n\n" + one,
		"other lines between":  one + "  indented, and no head  signature ok\nanother\n",
		"a head that is cut":   one + "10:00:00.000Z  track",
		"a body that is cut":   one + "10:00:00.000Z  track  signature ok\n  {\n",
		"a body without break": one + "10:00:00.000Z  track  signature ok\n  {}",
	} {
		if got, err := readAll(t, text); err != nil || len(got) != 1 || got[0].MessageID != "a" {
			t.Errorf("%s: %v, %v; want the one delivery", name, got, err)
		}
	}
}

func TestReadRefusesWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	got, err := readAll(t, "10:00:00.000Z  not JSON  signature ok\n  \"{\"\n\n")
	if err == nil {
		t.Errorf("a body that is not a JSON object is read as %v", got)
	}
}

func TestReadReportsABrokenStream(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, text := range []string{"a line", "10:00:00.000Z  track  signature ok\n  {"} {
		r := io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))
		if err := Read(r, func(Delivery) {}); !errors.Is(err, broken) {
			t.Errorf("after %q: %v, want the stream's error", text, err)
		}
	}
}

// FuzzRead: whatever is printed, as many deliveries are seen as there are heads,
// at most.
func FuzzRead(f *testing.F) {
	f.Add("10:00:00.000Z  track  signature ok\n  {\n    \"messageId\": \"a\"\n  }\n\n")
	f.Add("webhook receiver on http://127.0.0.1:8082/\n\n  signature \n\n")
	f.Add("x  signature BAD: y\n\n\nx  signature ok\n  []\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		heads := strings.Count(text, signatureMark)
		n := 0
		err := Read(strings.NewReader(text), func(d Delivery) {
			n++
			if strings.TrimSpace(d.Signature) != d.Signature {
				t.Errorf("verdict %q", d.Signature)
			}
		})
		if n > heads {
			t.Errorf("%d deliveries from %d heads, error %v", n, heads, err)
		}
	})
}
