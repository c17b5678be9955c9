package terminal

import (
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendPrintable appends JSON, or text, such that a terminal only shows it: what it would act on (DEL and C1 controls, bidi
// overrides) or not show is written as \u escapes, which leaves JSON what it was. Ends of lines stay.
func AppendPrintable(dst, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case r == '\n':
			dst = append(dst, '\n')
		case r == utf8.RuneError && size == 1, !unicode.IsPrint(r):
			dst = appendEscaped(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

func appendEscaped(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	for _, unit := range utf16.AppendRune(nil, r) {
		dst = append(dst, '\\', 'u', hex[unit>>12], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
	}
	return dst
}

// Printable returns a writer that passes on what [AppendPrintable] makes of each write, which has to be of whole characters.
func Printable(w io.Writer) io.Writer { return printable{w} }

type printable struct{ to io.Writer }

// Write implements [io.Writer].
func (p printable) Write(text []byte) (int, error) {
	safe := text
	if !plain(text) {
		safe = AppendPrintable(make([]byte, 0, len(text)+len(text)/8), text)
	}
	if _, err := p.to.Write(safe); err != nil {
		return 0, err
	}
	return len(text), nil
}

// plain tells of nearly all texts that there is nothing to escape.
func plain(text []byte) bool {
	for _, b := range text {
		if (b < ' ' || b > '~') && b != '\n' {
			return false
		}
	}
	return true
}
