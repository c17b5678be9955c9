package stablejson

import (
	"math"
	"strconv"
)

// AppendFloat appends f as ECMAScript prints it: plain digits from 1e-6 to
// below 1e21, else an exponent without padding; -0 is 0. NaN and the infinities
// are null, as JSON.stringify has it.
func AppendFloat(dst []byte, f float64) []byte {
	switch size := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(dst, "null"...)
	case size == 0:
		return append(dst, '0')
	case size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	default:
		return trimExponent(strconv.AppendFloat(dst, f, 'e', -1, 64))
	}
}

// trimExponent makes e-07 at the end of text e-7. Positive exponents have two
// digits at least, from 21 on.
func trimExponent(text []byte) []byte {
	n := len(text)
	if text[n-3] == '-' && text[n-2] == '0' {
		return append(text[:n-2], text[n-1])
	}
	return text
}

// appendNumber reads the number at r.pos.
func (r *Reader) appendNumber(dst []byte) ([]byte, error) {
	start := r.pos
	n, err := r.number()
	if err != nil {
		return dst, err
	}
	literal := r.text[start:r.pos]
	if n.stable() {
		return append(dst, literal...), nil
	}
	// The only error left is one of range, and its ±Inf prints as null.
	f, _ := strconv.ParseFloat(string(literal), 64)
	return AppendFloat(dst, f), nil
}

// number is a number literal taken apart; slices alias the text.
type number struct {
	negative       bool
	whole, decimal []byte // the digits before and behind the point
	exponent       bool
}

// stable reports whether ECMAScript would print the literal as it stands, by
// rules that need no conversion; false means only that they can't tell. Up to 15
// digits a decimal survives the trip through float64, so that no shorter one can
// stand for the same value.
func (n *number) stable() bool {
	const exact, largest = 15, "9007199254740992" // digits; 2^53
	switch {
	case n.exponent:
		return false
	case n.negative && len(n.decimal) == 0 && n.whole[0] == '0':
		return false
	case len(n.decimal) == 0:
		return len(n.whole) <= exact || len(n.whole) == len(largest) && string(n.whole) <= largest
	case n.decimal[len(n.decimal)-1] == '0' || len(n.whole)+len(n.decimal) > exact:
		return false
	default:
		// From 1e-7 down there would be an exponent: too rare to look closer.
		return n.whole[0] != '0' || len(n.decimal) < 6 || string(n.decimal[:5]) != "00000"
	}
}

// number reads the literal at r.pos.
func (r *Reader) number() (n number, err error) {
	if r.text[r.pos] == '-' {
		n.negative = true
		r.pos++
	}
	if n.whole, err = r.digits(); err != nil {
		return n, err
	}
	if n.whole[0] == '0' && len(n.whole) > 1 {
		r.pos -= len(n.whole) - 1
		return n, r.fail("number with a leading zero")
	}
	if r.pos < len(r.text) && r.text[r.pos] == '.' {
		r.pos++
		if n.decimal, err = r.digits(); err != nil {
			return n, err
		}
	}
	if r.pos < len(r.text) && r.text[r.pos]|0x20 == 'e' {
		n.exponent = true
		r.pos++
		r.sign()
		_, err = r.digits()
	}
	return n, err
}

func (r *Reader) sign() {
	if r.pos < len(r.text) && (r.text[r.pos] == '+' || r.text[r.pos] == '-') {
		r.pos++
	}
}

// digits reads one digit or more.
func (r *Reader) digits() ([]byte, error) {
	start, end := r.pos, r.pos
	for end < len(r.text) && isDigit(r.text[end]) {
		end++
	}
	if end == start {
		return nil, r.fail("expected a digit")
	}
	r.pos = end
	return r.text[start:end], nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
