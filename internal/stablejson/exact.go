package stablejson

import (
	"bytes"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"sync"
)

const (
	// quickDigits is up to how many digits strconv.ParseFloat converts at once, if
	// the magnitude is between these. For others, and for ties, it falls back to
	// decimal arithmetic, digit by digit, which takes up to five hundred times as
	// long: a kilobyte of gzip holds enough of 1e-310 for a second.
	quickDigits            = 19
	quickAbove, quickBelow = -300, 308

	// mostDigits is how many digits can matter: the point halfway between two
	// numbers of float64 has 767 at most. Of those behind only whether they are zero
	// is of interest.
	mostDigits = 770

	// No decimal of such a magnitude, as 0.d × 10^n, is anything but infinite or zero.
	infiniteFrom, zeroFrom = 310, -324

	// lowest is the exponent of the smallest number of float64 above zero, 2^-1074.
	lowest = -1074
	// precision is the bits of a mantissa.
	precision = 53
)

// float returns the float64 nearest to the literal, of two the even one, as
// ECMAScript has it. No literal takes long for its length.
func (r *Reader) float(n *number, literal []byte) float64 {
	digits, magnitude := n.significant()
	switch {
	case digits == 0:
		return 0 // whatever its exponent; the sign of a zero is not printed
	case digits <= quickDigits && magnitude > quickAbove && magnitude < quickBelow && !n.mayTie(digits):
		f, _ := strconv.ParseFloat(string(literal), 64)
		return f
	}
	if r.exact == nil {
		r.exact = new(exact)
	}
	f := r.exact.float(n, magnitude)
	if n.negative {
		return -f
	}
	return f
}

// mayTie reports whether a number of so many digits may lie halfway between two
// of float64, which strconv.ParseFloat does not decide at once either. It then has
// more digits than any float64 needs, and is whole or ends in a five.
func (n *number) mayTie(digits int) bool {
	if digits <= exactDigits {
		return false
	}
	decimal := bytes.TrimRight(n.decimal, "0")
	return len(decimal) == 0 || decimal[len(decimal)-1] == '5'
}

// significant returns how many digits the number has behind leading zeros, and
// its magnitude: it is 0.d × 10^magnitude.
func (n *number) significant() (digits, magnitude int) {
	whole, decimal := zeros(n.whole), 0
	if whole == len(n.whole) {
		decimal = zeros(n.decimal)
	}
	return len(n.whole) + len(n.decimal) - whole - decimal, len(n.whole) - whole - decimal + n.power
}

// zeros returns how many zeros text begins with.
func zeros(text []byte) int {
	i := 0
	for i < len(text) && text[i] == '0' {
		i++
	}
	return i
}

// exact converts by exact arithmetic. It holds memory alone.
type exact struct{ num, den, power, quo, rem, chunk big.Int }

// float returns the absolute value of n, whose magnitude is given: the digits
// times or by a power of ten, as a quotient of whole numbers with two bits or more
// beyond those of the result.
func (x *exact) float(n *number, magnitude int) float64 {
	switch {
	case magnitude >= infiniteFrom:
		return math.Inf(1)
	case magnitude <= zeroFrom:
		return 0
	}
	used, sticky := x.digits(n)
	// A power of ten is one of five, and a shift.
	power, den := magnitude-used, one
	if power < 0 {
		den = x.five(-power)
	} else {
		x.num.Mul(&x.num, x.five(power))
	}
	shift := min(precision+2+den.BitLen()-x.num.BitLen(), power-lowest+2)
	if shift >= 0 {
		x.num.Lsh(&x.num, uint(shift))
	} else {
		den = x.den.Lsh(den, uint(-shift))
	}
	x.quo.QuoRem(&x.num, den, &x.rem)
	quotient := x.quo.Uint64()
	if sticky || x.rem.Sign() != 0 {
		quotient |= 1 // no tie
	}
	return nearest(quotient, power-shift)
}

// nearest returns q × 2^power rounded to a float64. The last bit of q may stand for
// a rest; q has two bits or more than the result will have.
func nearest(q uint64, power int) float64 {
	beyond := max(bits.Len64(q)-precision, lowest-power)
	rest, half := q&(1<<beyond-1), uint64(1)<<(beyond-1)
	q >>= beyond
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return math.Ldexp(float64(q), power+beyond)
}

// digits makes num the digits of n, at most so many as can matter, and returns
// their number. Sticky tells that others follow and are not all zero.
func (x *exact) digits(n *number) (used int, sticky bool) {
	x.num.SetUint64(0)
	left := mostDigits
	for _, part := range [...][]byte{n.whole, n.decimal} {
		if used == 0 {
			part = part[zeros(part):]
		}
		some := part[:min(len(part), left)]
		for from := 0; from < len(some); from += quickDigits {
			x.append(some[from:min(len(some), from+quickDigits)])
		}
		used, left = used+len(some), left-len(some)
		rest := part[len(some):]
		sticky = sticky || zeros(rest) < len(rest)
	}
	return used, sticky
}

// append puts at most quickDigits digits behind those of num.
func (x *exact) append(digits []byte) {
	value, scale := uint64(0), uint64(1)
	for _, c := range digits {
		value, scale = value*10+uint64(c-'0'), scale*10
	}
	if x.num.Sign() == 0 {
		x.num.SetUint64(value)
		return
	}
	x.num.Mul(&x.num, x.chunk.SetUint64(scale))
	x.num.Add(&x.num, x.chunk.SetUint64(value))
}

// five returns a power of five, which is not to be changed.
func (x *exact) five(power int) *big.Int {
	table := fives()
	most := len(table) - 1
	if power <= most {
		return table[power]
	}
	x.power.Mul(table[most], table[min(power-most, most)])
	for power -= 2 * most; power > 0; power -= most {
		x.power.Mul(&x.power, table[min(power, most)])
	}
	return &x.power
}

var one = big.NewInt(1)

// fives are the powers of five, up to the largest that a literal of few digits
// needs. They take some forty kilobytes.
var fives = sync.OnceValue(func() []*big.Int {
	table := make([]*big.Int, quickDigits-zeroFrom+1)
	table[0] = one
	for i := range table[1:] {
		table[i+1] = new(big.Int).Mul(table[i], big.NewInt(5))
	}
	return table
})
