package stablejson_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// roundTrip is what a receiver does, for one text a line, all in base64.
const roundTrip = `
const lines = require('fs').readFileSync(0, 'latin1').trimEnd().split('\n')
const out = lines.map(line => {
	try {
		const text = Buffer.from(line, 'base64').toString('utf8')
		return Buffer.from(JSON.stringify(JSON.parse(text)), 'utf8').toString('base64')
	} catch {
		return '!'
	}
})
process.stdout.write(out.join('\n') + '\n')`

func TestAppendMatchesNode(t *testing.T) {
	g := generator{Rand: rand.New(rand.NewPCG(9, 10)), illFormed: true}
	texts := make([][]byte, 0, 5_000)
	for range cap(texts) {
		text := g.text()
		if g.IntN(10) == 0 {
			text[g.IntN(len(text))] = "0.eE+-\"\\{}[]:,tfnu \t\x00\x1f\xffx"[g.IntN(24)]
		}
		texts = append(texts, text)
	}
	for i, want := range node(t, texts) {
		got, err := stablejson.Append(nil, texts[i])
		if (err == nil) != (want != nil) {
			t.Fatalf("Append(%q): got %v, Node has %q", texts[i], err, want)
		}
		// A damaged escape may be a lone surrogate, which Node prints otherwise.
		if err == nil && string(got) != withoutLoneSurrogates(string(want)) {
			t.Fatalf("Append(%q)\n got %q\nNode %q", texts[i], got, want)
		}
	}
}

// What a receiver makes of our bytes has to be our bytes, lone surrogates or not.
func TestAppendIsFixedPointInNode(t *testing.T) {
	g := generator{Rand: rand.New(rand.NewPCG(11, 12)), loneSurrogates: true, illFormed: true}
	texts := make([][]byte, 0, 5_000)
	for range cap(texts) {
		text, err := stablejson.Append(nil, g.text())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	for i, got := range node(t, texts) {
		if !bytes.Equal(got, texts[i]) {
			t.Fatalf("Node makes %q of %q", got, texts[i])
		}
	}
}

// node returns what Node makes of each text, nil for what it refuses, in one
// process for all.
func node(t *testing.T, texts [][]byte) [][]byte {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not on the PATH")
	}
	var in bytes.Buffer
	for _, text := range texts {
		in.WriteString(base64.StdEncoding.EncodeToString(text) + "\n")
	}
	command := exec.CommandContext(t.Context(), path, "-e", roundTrip)
	command.Stdin = &in
	out, err := command.Output()
	if err != nil {
		t.Fatalf("run node: %v", err)
	}
	var results [][]byte
	for line := range bytes.Lines(out) {
		line = bytes.TrimSpace(line)
		if string(line) == "!" {
			results = append(results, nil)
			continue
		}
		result, err := base64.StdEncoding.AppendDecode(nil, line)
		if err != nil {
			t.Fatalf("decode Node's answer: %v", err)
		}
		results = append(results, result)
	}
	if len(results) != len(texts) {
		t.Fatalf("node answered %d of %d texts", len(results), len(texts))
	}
	return results
}
