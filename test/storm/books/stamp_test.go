package books

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStampTravels(t *testing.T) {
	want := Stamp{Run: "s7-kill-sink", Producer: "s7-kill-sink-d0", Key: 12, Sequence: 3456, At: time.UnixMicro(1_700_000_000_123_456)}
	body := fmt.Appendf(nil, `{"version":1,"type":"track","messageId":%q,"userId":"u12"}`, want)
	got, err := StampOf(body)
	if err != nil {
		t.Fatalf("StampOf: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stamp (-want +got):\n%s", diff)
	}
}

func TestStampOfRefuses(t *testing.T) {
	for _, body := range []string{
		``, `{}`, `{"messageId":"r/p/1/2/3`, `{"messageId":"r/p/1/2"}`, `{"messageId":"r/p/1/2/3/4"}`,
		`{"messageId":"r/p/x/2/3"}`, `{"messageId":"r/p/1/-2/3"}`, `{"messageId":"01890000-0000-7000-8000-000000000000"}`,
	} {
		if s, err := StampOf([]byte(body)); err == nil {
			t.Errorf("StampOf(%s) = %v, expected an error", body, s)
		}
	}
}
