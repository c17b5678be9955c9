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
const MaxEncoded = MaxMetadata - len(origin) - idLength - len(originEnd)

// The prefixes tell our metadata from that of others: the client library, for
// one, writes its member id there.
//
// The second version has keys that are set aside. A process that does not know it
// takes it for the empty set, and delivers again what is finished.
const (
	plain         = "anabranch-done:1:"
	deflated      = "anabranch-done:1z:"
	plainAside    = "anabranch-done:2:"
	deflatedAside = "anabranch-done:2z:"
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
	whole, short := plain, deflated
	if len(d.aside) > 0 {
		whole, short = plainAside, deflatedAside
	}
	// This much deflates to what fits or does not matter any more.
	long := d.append(at, 16*maxPayload)
	if len(long) <= maxPayload {
		return whole + encoding.EncodeToString(long)
	}
	if small := deflate(long); len(small) <= maxPayload {
		return short + encoding.EncodeToString(small)
	}
	return whole + encoding.EncodeToString(d.append(at, maxPayload))
}

// append writes as many runs as fit into limit bytes.
func (d Done) append(at int64, limit int) []byte {
	payload := binary.AppendUvarint(nil, uint64(max(d.epoch, 0)))
	if len(d.aside) > 0 {
		payload, at = d.appendAside(payload, at), d.main
	}
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

// appendAside writes where reading goes on and the keys that are set aside, of
// which there is room for [MaxAside].
func (d Done) appendAside(payload []byte, at int64) []byte {
	for _, n := range []uint64{uint64(d.main - at), uint64(d.mainEpoch + 1), uint64(len(d.aside))} {
		payload = binary.AppendUvarint(payload, n)
	}
	for _, a := range d.aside {
		for _, n := range []uint64{a.Key, uint64(a.From - at), uint64(max(a.Count, 0))} {
			payload = binary.AppendUvarint(payload, n)
		}
	}
	return payload
}

// Decode reads the metadata of a commit at an offset. Whatever is not written by
// Encode is the empty set: to forget what was finished only repeats it.
func Decode(at int64, metadata string) Done {
	_, text := Origin(metadata)
	payload, aside, ok := unwrap(text)
	if !ok || at < 0 || at > maxOffset {
		return Done{}
	}
	numbers, ok := decodeNumbers(payload)
	if !ok || len(numbers) == 0 || numbers[0] >= 1<<31 {
		return Done{}
	}
	d := Done{epoch: int32(numbers[0])}
	numbers = numbers[1:]
	if aside {
		if numbers, ok = d.decodeAside(at, numbers); !ok {
			return Done{}
		}
		at = d.main
	}
	if len(numbers)%2 != 0 {
		return Done{}
	}
	for pair := range slices.Chunk(numbers, 2) {
		from := at + int64(pair[0])
		at = from + int64(pair[1])
		if pair[1] == 0 || pair[0] > maxOffset || pair[1] > maxOffset || at > maxOffset {
			return Done{}
		}
		d.runs = join(d.runs, from, at)
	}
	return d
}

// decodeAside reads what appendAside wrote, and returns the numbers behind it.
func (d *Done) decodeAside(at int64, numbers []uint64) ([]uint64, bool) {
	if len(numbers) < 3 || numbers[0] > maxOffset || numbers[1] > 1<<31 || numbers[2] == 0 || numbers[2] > MaxAside {
		return nil, false
	}
	d.at, d.main, d.mainEpoch = at, at+int64(numbers[0]), int32(int64(numbers[1])-1)
	keys, rest := 3*int(numbers[2]), numbers[3:]
	if len(rest) < keys || d.main > maxOffset {
		return nil, false
	}
	for a := range slices.Chunk(rest[:keys], 3) {
		if a[1] > maxOffset || a[2] > maxOffset {
			return nil, false
		}
		d.aside = append(d.aside, Aside{Key: a[0], From: at + int64(a[1]), Count: int64(a[2])})
	}
	return rest[keys:], true
}

// maxOffset keeps sums of offsets from overflowing.
const maxOffset = 1 << 61

// unwrap returns the payload, and whether keys are set aside in it; false when the
// metadata is not ours.
func unwrap(metadata string) (payload []byte, aside, ok bool) {
	for _, prefix := range []string{plain, deflated, plainAside, deflatedAside} {
		text, ours := strings.CutPrefix(metadata, prefix)
		if !ours {
			continue
		}
		payload, err := encoding.DecodeString(text)
		ok = err == nil
		if ok && (prefix == deflated || prefix == deflatedAside) {
			payload, ok = inflate(payload)
		}
		return payload, prefix == plainAside || prefix == deflatedAside, ok
	}
	return nil, false, false
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
