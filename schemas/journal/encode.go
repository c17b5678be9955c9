package journal

import (
	"encoding/binary"
	"strings"
	"time"
	"unicode/utf8"
)

// dictionary numbers the texts of a record. Zero is the empty text.
type dictionary struct {
	numbers map[string]uint64
	texts   []string
}

// number is that of a text.
func (d *dictionary) number(text string) uint64 {
	if text == "" {
		return 0
	}
	text = Cut(text)
	n, known := d.numbers[text]
	if !known {
		if d.numbers == nil {
			d.numbers = make(map[string]uint64)
		}
		d.texts = append(d.texts, text)
		n = uint64(len(d.texts))
		d.numbers[text] = n
	}
	return n
}

func (d *dictionary) append(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(d.texts)))
	for _, text := range d.texts {
		to = binary.AppendUvarint(to, uint64(len(text)))
		to = append(to, text...)
	}
	return to
}

// Cut makes of a text what a record takes: UTF-8, shortened at the end of a character.
func Cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxTextBytes {
		return text
	}
	end := MaxTextBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// append writes what comes before the texts.
func (h *Head) append(to []byte, version byte, of kind) []byte {
	to = append(to, version, byte(of))
	to = binary.BigEndian.AppendUint32(to, h.KeyID)
	to = binary.AppendUvarint(to, uint64(millis(h.Base)))
	to = binary.AppendUvarint(to, uint64(h.From))
	to = binary.AppendUvarint(to, uint64(h.Next-h.From))
	return binary.AppendUvarint(to, uint64(h.Lost))
}

// millis is a time in Unix milliseconds, within what there is.
func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return min(max(at.UnixMilli(), 0), maxMillis)
}
