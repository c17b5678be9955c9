package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// acted is text that a terminal acts on, or that hides what it says.
const acted = "a\x7fb\u009b31mc\u202ed\u2066e\u200ff\u2028g"

func TestJSONShowsWhatItSays(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, map[string]string{"k": acted + "é<日本"}); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"k\": \"a\\u007fb\\u009b31mc\\u202ed\\u2066e\\u200ff\\u2028gé<日本\"\n}\n"
	if out.String() != want {
		t.Errorf("JSON printed %q, want %q", out.String(), want)
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["k"] != acted+"é<日本" {
		t.Errorf("it means %q, %v", back["k"], err)
	}
}

func TestPrintableLeavesPlainTextAlone(t *testing.T) {
	const text = "level=INFO msg=\"all \\ is well\"\nnext\n"
	var out strings.Builder
	if n, err := Printable(&out).Write([]byte(text)); n != len(text) || err != nil || out.String() != text {
		t.Errorf("wrote %q: %d, %v", out.String(), n, err)
	}
	out.Reset()
	if n, err := Printable(&out).Write([]byte("\xff\x1b")); n != 2 || err != nil || out.String() != "\\ufffd\\u001b" {
		t.Errorf("wrote %q: %d, %v", out.String(), n, err)
	}
}
