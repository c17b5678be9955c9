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
	// Of a value that is of no use it is enough to know that it is one.
	if n.stable() || r.pos > r.useful {
		return append(dst, literal...), nil
	}
	return AppendFloat(dst, r.float(&n, literal)), nil
}

// number is a number literal taken apart; slices alias the text.
type number struct {
	negative       bool
	whole, decimal []byte // the digits before and behind the point
	exponent       bool
	power          int // behind the e, cut off where none makes a difference
}

// exactDigits is how many digits of a decimal survive the trip through float64.
const exactDigits = 15

// stable reports whether ECMAScript would print the literal as it stands, by
// rules that need no conversion; false means only that they can't tell. Of a decimal
// that survives the trip through float64 no shorter one can stand for the same
// value.
func (n *number) stable() bool {
	const largest = "9007199254740992" // 2^53
	switch {
	case n.exponent:
		return false
	case n.negative && len(n.decimal) == 0 && n.whole[0] == '0':
		return false
	case len(n.decimal) == 0:
		return len(n.whole) <= exactDigits || len(n.whole) == len(largest) && string(n.whole) <= largest
	case n.decimal[len(n.decimal)-1] == '0' || len(n.whole)+len(n.decimal) > exactDigits:
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
		n.power, err = r.exponent()
	}
	return n, err
}

// exponent reads what stands behind the e.
func (r *Reader) exponent() (power int, err error) {
	sign := 1
	if r.pos < len(r.text) && (r.text[r.pos] == '+' || r.text[r.pos] == '-') {
		if r.text[r.pos] == '-' {
			sign = -1
		}
		r.pos++
	}
	digits, err := r.digits()
	// Far more than a text has digits, which alone could make up for it.
	const most = 1 << 40
	for _, c := range digits {
		power = min(power*10+int(c-'0'), most)
	}
	return sign * power, err
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
