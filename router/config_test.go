package router

import (
	"testing"
	"time"
)

func TestStartIsAWordOrATime(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "auto", "first", "end", "2026-09-18T03:00:00Z", "2026-09-18T03:00:00+02:00"} {
		if err := (Config{MaxRecords: 1, TransactionTimeout: time.Second, Start: good}).Validate(); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"latest", "2026-09-18", "03:00", "0001-01-01T00:00:00Z"} {
		if err := (Config{MaxRecords: 1, TransactionTimeout: time.Second, Start: bad}).Validate(); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestRejectsSettingsThatCannotWork(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{{MaxRecords: 0, TransactionTimeout: time.Minute}, {MaxRecords: 1, TransactionTimeout: time.Hour}} {
		if _, err := New(cfg, Settings{}); err == nil {
			t.Errorf("New(%+v) succeeded", cfg)
		}
	}
}
