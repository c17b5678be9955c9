package doctor

import (
	"bytes"
	"errors"
	"flag"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

var update = flag.Bool("update", false, "write what is printed to testdata")

func sample() *Diagnosis {
	return diagnose(noon, []Finding{
		{Check: CheckSettings, Level: OK, Found: "each can work"},
		{Check: CheckBrokers, About: "broker 2", Level: Problem, Found: "advertises kafka-2:9092, which can't be reached from here: no such host", Do: "set advertised.listeners"},
		{Check: CheckWorkspace, About: "destination \x1b[2J", Level: Warning, Found: "two\nlines", Do: "use one"},
	})
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := Table(&out, sample()); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/diagnosis.txt", out.Bytes(), *update)
}

// Programs read the names and kinds of the members: to change the file is to break
// them.
func TestJSONStaysAsItIs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := JSON(&out, sample()); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/diagnosis.json", out.Bytes(), *update)
}

func TestWhatCannotBePrinted(t *testing.T) {
	t.Parallel()
	closed := errors.New("closed")
	for name, show := range map[string]func(*Diagnosis) error{
		"table": func(d *Diagnosis) error { return Table(shut{closed}, d) },
		"JSON":  func(d *Diagnosis) error { return JSON(shut{closed}, d) },
	} {
		if err := show(sample()); !errors.Is(err, closed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type shut struct{ err error }

func (s shut) Write([]byte) (int, error) { return 0, s.err }
