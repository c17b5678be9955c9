package workspace

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

func TestCrowded(t *testing.T) {
	t.Parallel()
	of := func(n int) *Snapshot {
		all := make([]Destination, n)
		for i := range all {
			all[i].ID = "d" + strconv.Itoa(i)
		}
		return NewSnapshot(nil, all)
	}
	for _, embedded := range []bool{true, false} {
		if warning, err := of(TriedDestinations).Crowded(embedded); warning != "" || err != nil {
			t.Errorf("as many as were tried, embedded %v: %q, %v", embedded, warning, err)
		}
	}
	many := of(TriedDestinations + 1)
	if _, err := many.Crowded(true); !errors.Is(err, ErrCrowded) || !strings.Contains(err.Error(), "1001, expected at most 1000") || !strings.Contains(err.Error(), "KAFKA_BROKERS") {
		t.Errorf("on the embedded broker: %v", err)
	}
	if warning, err := many.Crowded(false); err != nil || !strings.Contains(warning, "1001 destinations") {
		t.Errorf("elsewhere: %q, %v", warning, err)
	}
}
