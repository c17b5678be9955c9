package main

import (
	"testing"
)

func TestSelectRows(t *testing.T) {
	all, err := selectRows("", false)
	if err != nil || len(all) != len(rows()) {
		t.Errorf("no names: %d rows, %v, expected all", len(all), err)
	}
	short, err := selectRows("", true)
	if err != nil || len(short) == 0 || len(short) >= len(all) {
		t.Errorf("the short form: %d of %d rows, %v", len(short), len(all), err)
	}
	// Asked for by name, a row that the short form leaves out runs in its short size.
	named, err := selectRows("join-leave,kill-sink", true)
	if err != nil || len(named) != 2 || named[0].Name != "join-leave" || named[1].Name != "kill-sink" {
		t.Errorf("by name: %v, %v", named, err)
	}
	if _, err := selectRows("kill-sink,nonsense", false); err == nil {
		t.Error("an unknown name: no error")
	}
}
