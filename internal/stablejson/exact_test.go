package stablejson_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// checkNumber holds the stable form of a literal against package big. (Of more
// than 800 digits before the point strconv forgets how many there were.)
func checkNumber(t *testing.T, literal string) {
	t.Helper()
	var want string
	if x, ok := new(big.Rat).SetString(literal); ok {
		f, _ := x.Float64()
		want = string(stablejson.AppendFloat(nil, f))
	} else {
		f, _ := strconv.ParseFloat(literal, 64) // its exponent is beyond all measure
		want = string(stablejson.AppendFloat(nil, f))
	}
	got, err := stablejson.Append(nil, []byte(literal))
	if err != nil || string(got) != want {
		t.Errorf("%.100s of %d bytes: got %s, %v; want %s", literal, len(literal), got, err, want)
	}
}

func TestNumbersAtTheEdges(t *testing.T) {
	t.Parallel()
	zeros, nines := strings.Repeat("0", 1000), strings.Repeat("9", 1000)
	for _, literal := range []string{
		"5e-324", "4e-324", "3e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.5e-324", "1e-324", "1e-325", "0e-999999999999999999999", "0.0e99999",
		"1e-310", "-1e-310", "2.2250738585072011e-308", "2.2250738585072012e-308", "2.2250738585072014e-308", "2.225073858507201e-308",
		"1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "1.8e308", "1e309", "1e310", "-1e309", "1e99999999999999999999",
		"9007199254740993", "9007199254740993." + zeros + "1", "9007199254740992." + nines, "9007199254740993" + zeros, "9007199254740993e-400",
		"0." + zeros + "1e1001", zeros[:0] + "1" + zeros + "e-1000", "0." + zeros + nines + "e1000", nines + "e-1000", nines + "e-1300", nines + nines + "e-2310", "1" + zeros, "0." + zeros + "1",
		halfway(1, lowestPower), halfway(1, lowestPower) + zeros + "1", halfway(1<<53-1, 970), halfway(1<<52, lowestPower), halfway(1<<52, lowestPower) + "1",
	} {
		checkNumber(t, literal)
	}
}

const lowestPower = -1074

// halfway is the point between m × 2^power and the float64 behind it, as a decimal
// that may get digits behind it.
func halfway(m int64, power int) string {
	x := new(big.Float).SetPrec(2000).SetMantExp(new(big.Float).SetInt64(2*m+1), power-1)
	return strings.TrimRight(x.Text('f', 1100), "0") + "0"
}

func TestNumbersAtRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 14))
	digits := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte('0' + r.IntN(10))
		}
		return string(text)
	}
	for range 20_000 {
		f := math.Float64frombits(r.Uint64() &^ (1 << 63))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		checkNumber(t, strconv.FormatFloat(f, 'e', 15+r.IntN(12), 64))
		checkNumber(t, "1"+digits(r.IntN(40))+"."+digits(1+r.IntN(40))+"e"+strconv.Itoa(r.IntN(800)-400))
		small := math.Float64frombits(r.Uint64() >> (12 + r.IntN(50)))
		checkNumber(t, strconv.FormatFloat(small, 'e', r.IntN(20), 64))
	}
	for range 200 {
		mantissa, power := r.Int64N(1<<53), r.IntN(2000)-1074
		if power > 970 {
			power = 970
		}
		tie := halfway(mantissa, power)
		checkNumber(t, tie)
		checkNumber(t, tie+"0001")
	}
}

// FuzzNumber takes any literal.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"1e-310", "9007199254740993", "12345678901234567890123e-320", "-0.0", "1e309"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, literal string) {
		if literal == "" || strings.Trim(literal, "0123456789.eE+-") != "" {
			return
		}
		if _, err := stablejson.Append(nil, []byte(literal)); err == nil {
			checkNumber(t, literal)
		}
	})
}
