package sdks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

func TestFindNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := Find(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "python23") || !strings.Contains(err.Error(), "make sdk-test") {
		t.Errorf("Find in an empty folder: %v, expected the name of an SDK and how to install it", err)
	}
}

// shell is a program in the place of an SDK: it has what a script is told in its
// environment.
func shell(t *testing.T, script string) SDK {
	t.Helper()
	return SDK{Name: "shell", program: "sh", script: []byte(script)}
}

func load(t *testing.T) *Load {
	t.Helper()
	return &Load{
		Endpoint: "http://127.0.0.1:1", WriteKey: "wk", Rate: 10, Keys: 2, Duration: 1500 * time.Millisecond,
		Books: books.New("run"), Dir: t.TempDir(),
	}
}

func TestRunEntersWhatTheProgramSays(t *testing.T) {
	t.Parallel()
	l := load(t)
	s := shell(t, `
echo "sent $RUN/$PRODUCER/0/0/1 $RUN/$PRODUCER/1/1/1"
echo "accepted $RUN/$PRODUCER/0/0/1"
echo "$ENDPOINT $WRITE_KEY $RATE $KEYS $SECONDS" >&2
`)
	count, err := s.Run(t.Context(), l)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if want := (Count{Sent: 2, Accepted: 1}); count != want {
		t.Errorf("count %+v, expected %+v", count, want)
	}
	mine := func(producer string) bool { return producer == "shell" }
	if sum := l.Books.Tally(mine); sum.Sent != 1 {
		t.Errorf("books %+v, expected one promised to the producer of the SDK's name", sum)
	}
	told, err := os.ReadFile(filepath.Join(l.Dir, "shell.log"))
	if want := "http://127.0.0.1:1 wk 10 2 1.5\n"; err != nil || string(told) != want {
		t.Errorf("the program was told %q, %v, expected %q", told, err, want)
	}
}

func TestRunReportsAProgramThatFails(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"its exit code":         "exit 3",
		"a line it should not":  "echo hello there; sleep 600",
		"no program of its own": "this-is-no-command",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shell(t, script)
			if count, err := s.Run(t.Context(), load(t)); err == nil || !strings.Contains(err.Error(), "shell") {
				t.Errorf("Run: %+v, %v, expected an error that names the SDK", count, err)
			}
		})
	}
}
