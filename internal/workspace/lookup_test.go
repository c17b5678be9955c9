package workspace

import (
	"testing"
)

// TestDisabledKeysAreNotLookedUp holds that what is not enabled is nowhere to
// be found: the lookup can't take longer for it than for what never was.
func TestDisabledKeysAreNotLookedUp(t *testing.T) {
	t.Parallel()
	s := NewSnapshot([]Source{
		{ID: "on", WriteKeyHash: HashWriteKey("wk_on"), Enabled: true},
		{ID: "off", WriteKeyHash: HashWriteKey("wk_off")},
	}, nil)
	if len(s.enabledByKey) != 1 {
		t.Errorf("%d keys are looked up", len(s.enabledByKey))
	}
}
