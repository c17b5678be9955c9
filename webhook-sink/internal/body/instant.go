package body

import "time"

// isInstant reports whether value is a JSON string of the form schemas.TimeLayout,
// and a time that there is. time.Parse would take four times as long, and is not
// exact: it lets a comma through before the milliseconds, and hours of one digit.
func isInstant(value []byte) bool {
	const form = `"0000-00-00T00:00:00.000Z"`
	if len(value) != len(form) {
		return false
	}
	for i, c := range []byte(form) {
		if c != '0' && value[i] != c || c == '0' && (value[i] < '0' || value[i] > '9') {
			return false
		}
	}
	two := func(at int) int { return int(value[at]-'0')*10 + int(value[at+1]-'0') }
	year, month, day := two(1)*100+two(3), time.Month(two(6)), two(9)
	return two(12) < 24 && two(15) < 60 && two(18) < 60 && month >= 1 && month <= 12 && day >= 1 && day <= days(year, month)
}

func days(year int, month time.Month) int {
	switch month {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}
