package listing

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// maxRaw bounds what a terminal is shown of a value that is not JSON.
const maxRaw = 2048

// Pretty returns JSON over several lines; what is not JSON in quotes, up to so many bytes. What a
// terminal would act on is written as \u escapes, which leaves it the same JSON.
func Pretty(value []byte, most int) string {
	var indented bytes.Buffer
	value = bytes.Trim(value, " \t\r\n") // json.Indent leaves what stands behind
	if err := json.Indent(&indented, value, "", "  "); err != nil {
		text := strconv.Quote(string(value[:min(len(value), most)]))
		if rest := len(value) - most; rest > 0 {
			text += " and " + strconv.Itoa(rest) + " bytes more"
		}
		return text
	}
	return escape(indented.String())
}

func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		// Only inside strings does JSON hold any of these.
		for _, unit := range utf16.AppendRune(nil, r) {
			b.WriteString(`\u` + strconv.FormatUint(0x10000|uint64(unit), 16)[1:])
		}
	}
	return b.String()
}
