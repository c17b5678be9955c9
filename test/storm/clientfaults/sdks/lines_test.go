package sdks

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/storm/books"
)

func TestEnter(t *testing.T) {
	t.Parallel()
	b := books.New("run")
	stamp := func(n int) books.Stamp {
		return books.Stamp{Run: "run", Producer: "python-0", Key: 1, Sequence: n, At: time.UnixMicro(1_700_000_000_000_000)}
	}
	line := func(word string, all ...int) string {
		words := []string{word}
		for _, n := range all {
			words = append(words, stamp(n).String())
		}
		return strings.Join(words, " ")
	}
	count, err := enter(strings.NewReader(strings.Join([]string{
		line("sent", 0, 1), line("sent", 0, 1), line("accepted", 0, 1), line("sent", 2), line("dropped", 2), "",
	}, "\n")), b)
	if err != nil {
		t.Fatalf("enter: %v", err)
	}
	if want := (Count{Sent: 5, Accepted: 2, Dropped: 1}); count != want {
		t.Errorf("count %+v, expected %+v", count, want)
	}
	if sum := b.Tally(nil); sum.Sent != 2 || sum.Lost != 2 {
		t.Errorf("books %+v, expected two promised that have not arrived", sum)
	}
	for range 3 { // the third time nobody has asked for
		b.Arrived(stamp(0), time.Now(), func(int) bool { return true })
	}
	if n := b.Unasked(); n != 1 {
		t.Errorf("%d unasked, expected 1", n)
	}
}

// What a program says beside its lines, such as a warning, must not pass for
// silence: it may have come in the place of a promise.
func TestEnterRefusesOtherLines(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"\n", "sent\n", "Warning: something else\n", "sent run/p/0/0\n", "accepted run/p/0/x/1\n",
		"sent run/p/0/0/" + strings.Repeat("1", 2<<20) + "\n",
	} {
		if count, err := enter(strings.NewReader(text), books.New("run")); err == nil {
			t.Errorf("%.40q passed: %+v", text, count)
		}
	}
}

func TestParseLine(t *testing.T) {
	t.Parallel()
	want := []books.Stamp{{Run: "r", Producer: "p", Key: 3, Sequence: 17, At: time.UnixMicro(5)}}
	word, got, err := parseLine("accepted r/p/3/17/5")
	if err != nil || word != wordAccepted {
		t.Fatalf("parseLine: %q, %v", word, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stamps (-want +got):\n%s", diff)
	}
}
