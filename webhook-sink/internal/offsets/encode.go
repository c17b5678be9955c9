package offsets

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"io"
	"slices"
	"strings"
)

// MaxEncoded is the length of the longest text that Encode returns. It leaves room
// for what else stands in a commit's metadata.
const MaxEncoded = MaxMetadata - originLength

// The prefixes tell our metadata from that of others: the client library, for
// one, writes its member id there.
const (
	plain    = "anabranch-done:1:"
	deflated = "anabranch-done:1z:"
)

var encoding = base64.RawStdEncoding

// maxPayload is how many bytes fit.
var maxPayload = encoding.DecodedLen(MaxEncoded - len(deflated))

// Encode writes the set as text, relative to the committed offset at, which must
// not be above any record in it: the epoch, and then by turns how many offsets
// are not in the set and how many are. It is deflated where it would be too long:
// thousands of records that overtook each other one by one. Runs that do not fit
// even so are left out, from the end; their records are delivered once more. The
// empty set is the empty text.
func (d Done) Encode(at int64) string {
	if d.Empty() {
		return ""
	}
	// This much deflates to what fits or does not matter any more.
	long := d.append(at, 16*maxPayload)
	if len(long) <= maxPayload {
		return plain + encoding.EncodeToString(long)
	}
	if small := deflate(long); len(small) <= maxPayload {
		return deflated + encoding.EncodeToString(small)
	}
	return plain + encoding.EncodeToString(d.append(at, maxPayload))
}

// append writes as many runs as fit into limit bytes.
func (d Done) append(at int64, limit int) []byte {
	payload := binary.AppendUvarint(nil, uint64(max(d.epoch, 0)))
	for _, r := range d.runs {
		longer := binary.AppendUvarint(payload, uint64(r.from-at))
		longer = binary.AppendUvarint(longer, uint64(r.to-r.from))
		if len(longer) > limit {
			break
		}
		payload, at = longer, r.to
	}
	return payload
}

// Decode reads the metadata of a commit at an offset. Whatever is not written by
// Encode is the empty set: to forget what was finished only repeats it.
func Decode(at int64, metadata string) Done {
	payload, ok := unwrap(metadata)
	if !ok || at < 0 || at > maxOffset {
		return Done{}
	}
	numbers, ok := decodeNumbers(payload)
	if !ok || len(numbers)%2 != 1 || numbers[0] >= 1<<31 {
		return Done{}
	}
	d := Done{epoch: int32(numbers[0])}
	for pair := range slices.Chunk(numbers[1:], 2) {
		from := at + int64(pair[0])
		at = from + int64(pair[1])
		if pair[1] == 0 || pair[0] > maxOffset || pair[1] > maxOffset || at > maxOffset {
			return Done{}
		}
		d.runs = join(d.runs, from, at)
	}
	return d
}

// maxOffset keeps sums of offsets from overflowing.
const maxOffset = 1 << 61

func unwrap(metadata string) ([]byte, bool) {
	text, whole := strings.CutPrefix(metadata, plain)
	if !whole {
		var ours bool
		if text, ours = strings.CutPrefix(metadata, deflated); !ours {
			return nil, false
		}
	}
	payload, err := encoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	if whole {
		return payload, true
	}
	return inflate(payload)
}

func deflate(payload []byte) []byte {
	var small bytes.Buffer
	w, err := flate.NewWriter(&small, flate.BestSpeed)
	if err != nil {
		return payload // the level is a constant that it knows
	}
	_, _ = w.Write(payload) // a buffer takes everything
	_ = w.Close()
	return small.Bytes()
}

// inflate bounds what it makes of the payload, which anybody may have written.
func inflate(payload []byte) ([]byte, bool) {
	limit := 16*maxPayload + 1
	long, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(payload)), int64(limit)))
	return long, err == nil && len(long) < limit
}

func decodeNumbers(payload []byte) ([]uint64, bool) {
	var numbers []uint64
	for len(payload) > 0 {
		n, size := binary.Uvarint(payload)
		if size <= 0 {
			return nil, false
		}
		numbers = append(numbers, n)
		payload = payload[size:]
	}
	return numbers, true
}
