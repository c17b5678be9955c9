package broker

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

// frame makes an entry of a state log.
func frame(data string) []byte {
	entry := make([]byte, entryHead, entryHead+entryVersion+len(data))
	entry = append(binary.LittleEndian.AppendUint16(entry, formatVersion), data...)
	binary.LittleEndian.PutUint32(entry, uint32(len(entry)-entryHead))
	binary.LittleEndian.PutUint32(entry[4:], crc32.Checksum(entry[entryHead:], crc32.MakeTable(crc32.Castagnoli)))
	return entry
}

func TestIntactEntries(t *testing.T) {
	one, two, three := frame(`{"o":1}`), frame(`{"o":2}`), frame(`{"o":3}`)
	flipped := bytes.Clone(two)
	flipped[len(flipped)-2] ^= 1
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	tests := map[string]struct{ raw, want []byte }{
		"nothing":                {nil, nil},
		"sound":                  {join(one, two, three), join(one, two, three)},
		"torn at the end":        {join(one, two, three[:5]), join(one, two)},
		"torn in the data":       {join(one, two[:len(two)-1]), one},
		"torn in the middle":     {join(one, two[:9], three), join(one, three)},
		"torn at the beginning":  {join(one[3:], two, three), join(two, three)},
		"flipped bit":            {join(one, flipped, three), join(one, three)},
		"zeroes":                 {join(one, make([]byte, 100), two), join(one, two)},
		"length beyond the end":  {join(one, []byte{255, 255, 255, 255, 0, 0, 0, 0, 1, 0}), one},
		"only rubbish":           {[]byte("not a log at all"), nil},
		"shorter than any entry": {[]byte{1}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := intactEntries(test.raw); !bytes.Equal(got, test.want) {
				t.Errorf("intact = %x, want %x", got, test.want)
			}
		})
	}
}

func TestFramesAreTheBrokers(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	commit(t, b, "events", 1)
	produce(t, client(t, b), "events", "value")
	for _, name := range []string{"groups.log", "pids.log"} {
		raw, err := os.ReadFile(filepath.Join(dir, "broker", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) == 0 || !bytes.Equal(intactEntries(raw), raw) {
			t.Errorf("%s: %d bytes, of which only %d are read as entries", name, len(raw), len(intactEntries(raw)))
		}
	}
}

func FuzzIntactEntries(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(frame(`{"type":"commit","g":"router","t":"raw-events","o":17}`))
	f.Add(frame("x")[:5])
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0, 0, 1, 0})
	last := frame(`{"type":"commit"}`)
	f.Fuzz(func(t *testing.T, raw []byte) {
		intact := intactEntries(raw)
		if !bytes.Equal(intactEntries(intact), intact) {
			t.Errorf("%x: what is intact is not found intact again", raw)
		}
		if got := intactEntries(append(raw, last...)); !bytes.HasSuffix(got, last) {
			t.Errorf("%x hides the entry behind it", raw)
		}
	})
}
