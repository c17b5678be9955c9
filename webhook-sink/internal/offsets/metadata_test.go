package offsets

import "testing"

func TestTheOriginOfACommit(t *testing.T) {
	id := TopicID{0xff, 2: 0xfe, 15: 1}
	done := Done{epoch: 2, runs: []run{{7, 8}}}.Encode(5)
	for name, c := range map[string]struct {
		text string
		of   TopicID
		done string
	}{
		"both":                  {Metadata(id, done), id, done},
		"nothing finished":      {Metadata(id, ""), id, ""},
		"brokers without ids":   {Metadata(TopicID{}, done), TopicID{}, done},
		"nothing":               {"", TopicID{}, ""},
		"of another client":     {"anabranch-b1946ac9", TopicID{}, "anabranch-b1946ac9"},
		"without an end":        {"anabranch-topic:AAAAAAAAAAAAAAAAAAAAAA", TopicID{}, "anabranch-topic:AAAAAAAAAAAAAAAAAAAAAA"},
		"an id that is short":   {"anabranch-topic:AAAA;x", TopicID{}, "anabranch-topic:AAAA;x"},
		"an id that can't be":   {"anabranch-topic:AAAAAAAAAAAAAAAAAAAA=A;x", TopicID{}, "anabranch-topic:AAAAAAAAAAAAAAAAAAAA=A;x"},
		"line ends in the id":   {"anabranch-topic:AAAAAAAAAAAAAAAAAAAA\n\n;x", TopicID{}, "anabranch-topic:AAAAAAAAAAAAAAAAAAAA\n\n;x"},
		"a text before ours":    {"x" + Metadata(id, done), TopicID{}, "x" + Metadata(id, done)},
		"an end in what is not": {"a;b", TopicID{}, "a;b"},
	} {
		if of, rest := Origin(c.text); of != c.of || rest != c.done {
			t.Errorf("%s: Origin(%q) = %x, %q; want %x, %q", name, c.text, of, rest, c.of, c.done)
		}
	}
	if got := Decode(5, Metadata(id, done)); !got.Contains(7, 2) {
		t.Errorf("decoded %v, want the record at 7", got)
	}
}
