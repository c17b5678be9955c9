package child

import (
	"strings"
	"testing"
)

func TestParseGauges(t *testing.T) {
	page := `# HELP go_goroutines Number of goroutines that currently exist.
# TYPE go_goroutines gauge
go_goroutines 42
go_info{version="go1.26"} 1
process_cpu_seconds_total 1.25
process_open_fds 17
process_resident_memory_bytes 3.3554432e+07
`
	got, err := parseGauges(strings.NewReader(page))
	if want := (Gauges{Resident: 32 << 20, Goroutines: 42, Descriptors: 17, CPU: 1.25}); err != nil || got != want {
		t.Errorf("parseGauges: %+v, %v, expected %+v", got, err, want)
	}
	if _, err := parseGauges(strings.NewReader("go_goroutines 42\n")); err == nil {
		t.Error("a page without the other gauges: no error, so a row would judge zeros")
	}
}
