package child

import "testing"

func TestParsePeak(t *testing.T) {
	t.Parallel()
	if got, err := parsePeak([]byte("Name:\tanabranch\nVmPeak:\t 9 kB\nVmHWM:\t   81920 kB\nVmRSS:\t 7 kB\n")); err != nil || got != 80<<20 {
		t.Errorf("found %d, %v", got, err)
	}
	for _, status := range []string{"", "VmPeak: 9 kB", "VmHWM:\tmuch kB"} {
		if got, err := parsePeak([]byte(status)); err == nil {
			t.Errorf("parsePeak(%q): %d and no error", status, got)
		}
	}
}
