package schedule

import (
	"testing"
	"time"
)

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 4 * time.Hour: "4h", 90 * time.Second: "1m30s", 10 * time.Minute: "10m", 20 * time.Second: "20s",
		time.Hour + 10*time.Second: "1h0m10s", 100 * time.Minute: "1h40m", 250 * time.Millisecond: "250ms",
	} {
		if got := Brief(d); got != want {
			t.Errorf("Brief(%d) = %s, expected %s", d, got, want)
		}
	}
}
