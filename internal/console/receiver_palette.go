package console

// palette is whether the terminal shows colours.
type palette bool

func (p palette) bold(dst []byte, text string) []byte { return p.paint(dst, "1", text) }
func (p palette) dim(dst []byte, text string) []byte  { return p.paint(dst, "2", text) }
func (p palette) good(dst []byte, text string) []byte { return p.paint(dst, "32", text) }
func (p palette) bad(dst []byte, text string) []byte  { return p.paint(dst, "1;31", text) }

// paint writes text between an ANSI "select graphic rendition" and its reset.
func (p palette) paint(dst []byte, code, text string) []byte {
	if !p {
		return append(dst, text...)
	}
	return append(dst, "\x1b["+code+"m"+text+"\x1b[0m"...)
}
